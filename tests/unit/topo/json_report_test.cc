#include "topo/output/json_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "made_up_machine.h"

namespace gdr::topo {
namespace {

using nlohmann::json;

json document_of(const Report& report) { return json::parse(to_json(report)); }

TEST(JsonReport, HasMatrixPairsChoicesAndTree) {
  const json document = document_of(test::two_node_machine().report({"82:00.0"}));
  EXPECT_EQ(document["schema"], "gdr.topo/1");
  EXPECT_EQ(document["tool"], "gdr topo");
  EXPECT_EQ(document["matrix"]["GPU0"]["NIC1"], "PXB");
  EXPECT_EQ(document["matrix"]["DEV0"]["DEV0"], "X");
  EXPECT_EQ(document["pairs"].size(), 8u);
  EXPECT_EQ(document["best"][0]["nic"], "NIC0");
  EXPECT_EQ(document["best"][0]["quality"], "good");
  EXPECT_EQ(document["devices"][2]["ports"][0]["mac"], "b8:3f:d2:00:00:01");
  EXPECT_EQ(document["devices"][0]["links"][0]["speed_gt_s"], 32.0);
  EXPECT_EQ(document["tree"][0]["children"][0]["children"][0]["kind"], "switch");
}

TEST(JsonReport, HasTheNamesOfCards) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.nics[0].board_id = "MT_0000000838";
  machine.inventory.nics[0].pci->product = {"ConnectX-7 adapter card", "MCX75310AAS-NEAT", false};
  const json document = document_of(machine.report());
  EXPECT_EQ(document["devices"][2]["product_name"], "ConnectX-7 adapter card");
  EXPECT_EQ(document["devices"][2]["part_number"], "MCX75310AAS-NEAT");
  EXPECT_EQ(document["devices"][2]["board_id"], "MT_0000000838");
  EXPECT_TRUE(document["devices"][3]["product_name"].is_null());
}

TEST(JsonReport, TellsWhetherGradesCanBeReliedOn) {
  test::MadeUpMachine machine = test::two_node_machine();
  EXPECT_EQ(document_of(machine.report())["reliable"], true);
  machine.inventory.flat = machine.inventory.virtual_machine = true;
  const json document = document_of(machine.report());
  EXPECT_EQ(document["reliable"], false);
  EXPECT_EQ(document["pairs"][0]["quality"], "unknown");
  EXPECT_EQ(document["warnings"].size(), 1u);
}

TEST(JsonReport, IsADocumentWhateverAMachineSaysOfItself) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.nics[0].name = machine.inventory.product = "\xff\"\x01";
  EXPECT_EQ(document_of(machine.report())["product"], "\xef\xbf\xbd\"\x01");
}

TEST(JsonReport, HasNullForWhatIsNotKnown) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.gpus[0].numa_node = -1;
  machine.inventory.gpus[0].pci->links[0].speed = 0;
  const json document = document_of(machine.report());
  EXPECT_TRUE(document["devices"][0]["numa_node"].is_null());
  EXPECT_TRUE(document["devices"][0]["links"][0]["speed_gt_s"].is_null());
  EXPECT_TRUE(document["product"].is_null());
}

}  // namespace
}  // namespace gdr::topo
