// What gdr does not choose and does not support: text, document and drawing agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "described_machine.h"
#include "host/source/hwloc_xml.h"
#include "host/source/lspci.h"
#include "host/source/nccl_xml.h"
#include "report_text.h"
#include "topo/output/json_report.h"
#include "topo/output/svg.h"
#include "topo/output/text_report.h"

namespace gdr::topo {
namespace {

using nlohmann::json;
using test::DescribedMachine;

struct Outputs {
  Report report;
  std::string text, tree, svg;
  json document;
};

Outputs outputs_of(Result<host::Inventory> machine) {
  EXPECT_TRUE(machine) << machine.error().message;
  Outputs made;
  if (!machine) return made;
  Result<Report> report = make_report(*std::move(machine), {"captured: test", false, {}}, {});
  EXPECT_TRUE(report) << report.error().message;
  if (!report) return made;
  made.report = *std::move(report);
  made.text = to_text(made.report, {}, {});
  made.tree = to_text(made.report, {}, {true, false});
  made.svg = to_svg(made.report, false);
  made.document = json::parse(to_json(made.report));
  return made;
}

DescribedMachine b200() {
  DescribedMachine machine;
  machine.gpu("0000:1b:00.0", "0000:1a:01.0", 0);
  machine.nic("mlx5_0", "0000:1c:00.0", "0000:1a:02.0", 0);
  test::DescribedDevice& managing = machine.nic("mlx5_8", "0000:1d:00.0", "0000:1a:03.0", 0);
  managing.speed = 16;
  managing.width = 2;
  return machine;
}

TEST(Others, AreManagementNicsApartInEveryOutput) {
  const Outputs made = outputs_of(host::read_hwloc_xml(b200().hwloc()));
  EXPECT_TRUE(has(made.text, "(1 NIC for management)")) << made.text;
  EXPECT_TRUE(has(made.text, "\nManagement NICs, not for data\n")) << made.text;
  EXPECT_TRUE(has(made.text, "\n  NIC1  mlx5_8  0000:1d:00.0  likely: its link carries"))
      << made.text;
  EXPECT_TRUE(has(made.text, "export NCCL_IB_HCA=^=mlx5_8")) << made.text;
  EXPECT_TRUE(has(made.tree, "mlx5_8, likely management, not for data")) << made.tree;
  EXPECT_TRUE(has(made.svg, "likely management, not for data")) << made.svg;
  EXPECT_EQ(made.document["best"][0]["nic"], "NIC0");
  EXPECT_TRUE(made.document["best"][0]["alike"].empty());
  const json& nic = made.document["devices"][2];
  EXPECT_EQ(nic["purpose"], "management");
  EXPECT_FALSE(nic["management_sign"].is_null());
  EXPECT_EQ(made.document["devices"][1]["purpose"], "data");
  EXPECT_EQ(made.document["pairs"][1]["quality"], "not for data");
  EXPECT_NE(made.document["pairs"][0]["quality"], "not for data");
  EXPECT_TRUE(has(made.document["nccl"]["advice"].dump(), "NCCL_IB_HCA=^=mlx5_8"));
}

DescribedMachine amd_machine() {
  DescribedMachine machine;
  machine.add({.address = "0000:41:00.0",
               .port = "0000:40:01.0",
               .vendor = 0x1002,
               .device = 0x74a1,
               .class_code = 0x120000,
               .maker = "Advanced Micro Devices, Inc. [AMD/ATI]",
               .name = "Aqua Vanjaram [Instinct MI300X]",
               .node = 0});
  machine.add({.address = "0000:81:00.0",
               .port = "0000:80:01.0",
               .vendor = 0x14e4,
               .device = 0x1760,
               .maker = "Broadcom Inc. and subsidiaries",
               .name = "BCM57608",
               .node = 0});
  return machine;
}

TEST(Others, AreNamedAsNotSupportedInEveryOutput) {
  for (const auto& machine : {host::read_hwloc_xml(amd_machine().hwloc()),
                              host::read_lspci({{"a.txt", amd_machine().lspci_verbose()}})}) {
    const Outputs made = outputs_of(machine);
    EXPECT_TRUE(has(made.text, "1 GPU and 1 NIC unsupported")) << made.text;
    EXPECT_TRUE(has(made.text, "AMD Aqua Vanjaram [Instinct MI300X]")) << made.text;
    EXPECT_FALSE(has(made.text, "NCCL")) << made.text;
    EXPECT_FALSE(has(made.text, "Searched")) << made.text;
    EXPECT_TRUE(has(made.svg, "Instinct MI300X], unsupported")) << made.svg;
    ASSERT_EQ(made.document["unsupported"].size(), 2u);
    EXPECT_EQ(made.document["unsupported"][0]["kind"], "gpu");
    EXPECT_EQ(made.document["unsupported"][1]["name"], "Broadcom BCM57608");
    EXPECT_TRUE(made.document["devices"].empty());
  }
}

TEST(Others, AreNotedWhereAMachineHasNvidiasToo) {
  DescribedMachine machine = amd_machine();
  machine.gpu("0000:42:00.0", "0000:40:02.0", 0);
  const Outputs made = outputs_of(host::read_hwloc_xml(machine.hwloc()));
  EXPECT_TRUE(has(made.text, "\nUnsupported devices\n")) << made.text;
  EXPECT_TRUE(has(made.text, "\n  GPU  0000:41:00.0  AMD Aqua")) << made.text;
  EXPECT_EQ(count_of(made.report, Device::Kind::kGpu), 1u);
}

TEST(Others, HaveNoQualityInAVirtualMachine) {
  DescribedMachine machine;
  machine.gpu("0000:05:00.0", "0000:00:02.0", 0);
  machine.nic("mlx5_0", "0000:06:00.0", "0000:00:03.0", 0);
  machine.information = {{"DMIProductName", "Standard PC (Q35 + ICH9, 2009)"},
                         {"DMISysVendor", "QEMU"}};
  const Outputs made = outputs_of(host::read_hwloc_xml(machine.hwloc()));
  EXPECT_EQ(made.document["best"][0]["quality"], "unknown");
  EXPECT_EQ(made.document["pairs"][0]["quality"], "unknown");
  EXPECT_EQ(made.document["reliable"], false);
  EXPECT_EQ(made.document["flat"], false);
  EXPECT_TRUE(has(made.document["virtual_by"].get<std::string>(), "Q35"));
  EXPECT_TRUE(has(made.text, "UNRELIABLE")) << made.text;
  EXPECT_TRUE(has(made.svg, "unreliable")) << made.svg;
  EXPECT_FALSE(has(made.text, "likely good")) << made.text;
}

// NCCL's files have one host bridge a NUMA node.
TEST(Others, HaveNoQualityOfAHostBridgeInNcclsFiles) {
  DescribedMachine machine;
  machine.gpu("0000:05:00.0", "", 0);
  machine.nic("mlx5_0", "0000:06:00.0", "", 0);
  const Outputs made = outputs_of(host::read_nccl_xml(machine.nccl()));
  EXPECT_EQ(made.document["best"][0]["path"], "PHB");
  EXPECT_EQ(made.document["best"][0]["quality"], "unknown");
  EXPECT_FALSE(has(made.text, "likely good")) << made.text;
  EXPECT_TRUE(has(made.text, "PHB here may be NODE")) << made.text;
}

TEST(Others, SayWhatWasSkippedInATextOfLspci) {
  const Outputs made =
      outputs_of(host::read_lspci({{"a.txt", "$ lspci -vvv\n" + amd_machine().lspci_verbose()}}));
  EXPECT_TRUE(has(made.text, "note  a.txt: 1 line skipped that is not from lspci")) << made.text;
  EXPECT_EQ(made.document["notes"].size(), 1u);
  EXPECT_TRUE(made.document["warnings"].empty());
}

TEST(Others, AreSeveralNamesOfOneFunctionInOneRow) {
  const char* xml =
      "<system version='1'><cpu numaid='0'><pci busid='0000:07:00.0' class='0x020700'><nic>"
      "<net name='mlx5_0' port='1'/><net name='mlx5_1' port='1'/></nic></pci></cpu></system>";
  const Outputs made = outputs_of(host::read_nccl_xml(xml));
  EXPECT_TRUE(has(made.text, "NIC0: mlx5_0, mlx5_1\n")) << made.text;
  const json& nic = made.document["devices"][0];
  EXPECT_EQ(nic["rdma_names"], json({"mlx5_0", "mlx5_1"}));
  EXPECT_EQ(nic["ports"].size(), 2u);
  EXPECT_EQ(nic["ports"][1]["rdma_name"], "mlx5_1");
}

}  // namespace
}  // namespace gdr::topo
