#include "topo/listing.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "made_up_machine.h"
#include "topo/output/list_json.h"
#include "topo/output/list_text.h"

namespace gdr::topo {
namespace {

// The two-node machine, whose first NIC has two ports and says what card it is.
host::Inventory two_port_inventory() {
  test::MadeUpMachine machine = test::two_node_machine();
  host::Nic& nic = machine.inventory.nics[0];
  nic.board_id = "MT_0000000838";
  nic.pci->product = {"NVIDIA ConnectX-7 VPI adapter card", "MCX75310AAS-NEAT", false};
  host::Port& first = nic.ports[0];
  first.link_layer = "Ethernet";
  first.gids = {{0, "fe80:0000:0000:0000:ba3f:d2ff:fe00:0001", "IB/RoCE v1", first.netdev},
                {3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2", first.netdev},
                {5, "0000:0000:0000:0000:0000:ffff:0a01:0001", "RoCE v2", "ens1.100"}};
  host::Port second = first;
  second.number = 2;
  second.state = "1: DOWN";
  second.gids.clear();
  nic.ports.push_back(second);
  machine.inventory.gpu_driver_version = "580.95.05";
  machine.inventory.gpu_driver_open = true;
  return machine.inventory;
}

Listing listing_of(const host::Inventory& inventory, const StandIns& stand_ins = {}) {
  Result<Listing> made = make_listing(inventory, {"captured: test", false, {}}, stand_ins);
  return made ? *std::move(made) : Listing{};
}

std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.find(part) != std::string::npos) found.push_back(line);
    at = end + 1;
  }
  return found;
}

void expect_all(const std::string& line, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " in: " << line;
  }
}

TEST(Listing, HasOneLineAGpuAndOneAPort) {
  const std::string text = to_text(listing_of(two_port_inventory()), {});
  ASSERT_EQ(lines_with(text, "  GPU0").size(), 1u) << text;
  expect_all(lines_with(text, "  GPU0")[0],
             {"NVIDIA H100", "0000:03:00.0", "32 GT/s x16", "nvidia 580.95.05, open"});
  const auto ports = lines_with(text, "  NIC0");
  ASSERT_EQ(ports.size(), 2u) << text;
  expect_all(ports[0], {"mlx5_0", "ibmlx5_0", "0000:04:00.0", "b8:3f:d2:00:00:01", "ACTIVE",
                        "400 Gb/sec  Ethernet", "28.39.1002", "mlx5_core",
                        "NVIDIA ConnectX-7 VPI adapter card (MCX75310AAS-NEAT)",
                        "0 RoCE v1 fe80::ba3f:d2ff:fe00:1, 3 RoCE v2 10.0.0.1, "
                        "5 RoCE v2 10.1.0.1 at ens1.100"});
  expect_all(ports[1], {"mlx5_0", "  2 ", "DOWN"});
  EXPECT_EQ(lines_with(text, "mlx5_").size(), 5u) << "four NICs, one of them with two ports";
}

TEST(Listing, NamesACardByItsPciNumbersWhereNothingElseIsKnown) {
  const std::string text = to_text(listing_of(two_port_inventory()), {});
  expect_all(lines_with(text, "mlx5_3").at(0), {"1234:5678"});
}

TEST(Listing, CallsSimulatedDevicesWhatTheyAre) {
  host::Inventory inventory = two_port_inventory();
  host::Nic rxe;
  rxe.name = "rxe0";
  rxe.ports.emplace_back();
  rxe.ports[0].number = 1;
  inventory.nics.push_back(rxe);
  StandIns stand_ins;
  stand_ins.gpus.resize(1);
  stand_ins.gpus[0].model = "gdrkit software GPU";
  stand_ins.nics = {rxe};
  stand_ins.nics[0].name = "soft0";
  stand_ins.problems = {"software NIC soft1: no port."};
  const Listing listing = listing_of(inventory, stand_ins);
  const std::string text = to_text(listing, {});
  expect_all(lines_with(text, "rxe0").at(0), {"  -", "software"});
  expect_all(lines_with(text, "soft0").at(0), {"  -", "gdrkit stand-in"});
  expect_all(lines_with(text, "software GPU").at(0), {"  -", "gdrkit stand-in"});
  EXPECT_NE(text.find("soft1: no port"), std::string::npos);
  // What is simulated is not counted.
  expect_all(text.substr(0, text.find('\n')), {"2 GPUs", "5 RDMA ports"});
  const auto document = nlohmann::json::parse(to_json(listing));
  EXPECT_EQ(document["gpus"].back()["made"], "gdrkit stand-in");
  EXPECT_EQ(document["gpus"].back()["label"], nullptr);
  EXPECT_EQ(document["ports"].back()["made"], "gdrkit stand-in");
}

TEST(Listing, IsADocumentWithEveryName) {
  const auto document = nlohmann::json::parse(to_json(listing_of(two_port_inventory())));
  EXPECT_EQ(document["tool"], "gdr list");
  EXPECT_EQ(document["gpus"][0]["driver_version"], "580.95.05");
  EXPECT_EQ(document["gpus"][0]["driver_open"], true);
  ASSERT_EQ(document["ports"].size(), 5u);
  const auto& port = document["ports"][0];
  EXPECT_EQ(port["label"], "NIC0");
  EXPECT_EQ(port["made"], "hardware");
  EXPECT_EQ(port["rdma_name"], "mlx5_0");
  EXPECT_EQ(port["port"], 1);
  EXPECT_EQ(port["state"], "ACTIVE");
  EXPECT_EQ(port["rate_gb_s"], 400);
  EXPECT_EQ(port["product_name"], "NVIDIA ConnectX-7 VPI adapter card");
  EXPECT_EQ(port["part_number"], "MCX75310AAS-NEAT");
  EXPECT_EQ(port["board_id"], "MT_0000000838");
  EXPECT_EQ(port["management"], false);
  ASSERT_EQ(port["gids"].size(), 3u);
  EXPECT_EQ(port["gids"][1]["index"], 3);
  EXPECT_EQ(port["gids"][1]["type"], "RoCE v2");
  EXPECT_EQ(port["gids"][1]["address"], "10.0.0.1");
  EXPECT_EQ(port["gids"][2]["netdev"], "ens1.100");
}

TEST(Listing, ShowsMachinesWithoutPortsAndWithManyAddresses) {
  host::Inventory inventory = two_port_inventory();
  inventory.nics[1].ports.clear();  // as text of lspci has them
  host::Port& port = inventory.nics[0].ports[0];
  for (unsigned i = 6; i < 30; ++i) port.gids.push_back({i, port.gids[1].text, "RoCE v2", {}});
  const std::string text = to_text(listing_of(inventory), {});
  EXPECT_EQ(lines_with(text, "mlx5_1").size(), 1u) << text;
  expect_all(lines_with(text, "  NIC0")[0], {" and 19 more"});
}

TEST(Listing, SaysWhatItCouldNotSeeOfWhatItWouldHaveShown) {
  host::Inventory inventory = two_port_inventory();
  inventory.unseen = {"NVLink between the GPUs: sysfs does not show it.",
                      "Configuration space beyond its first 64 bytes: run as root.",
                      "RDMA names and ports: lspci does not show them."};
  EXPECT_EQ(listing_of(inventory).unseen, std::vector<std::string>{inventory.unseen[2]});
  inventory.nics[0].pci->product = {};
  inventory.unseen.clear();
  ASSERT_EQ(listing_of(inventory).unseen.size(), 1u);
  EXPECT_NE(listing_of(inventory).unseen[0].find("product names"), std::string::npos);
  inventory.nics.clear();
  EXPECT_TRUE(listing_of(inventory).unseen.empty());
}

TEST(Listing, BreaksNoLineOfAFileAndAllThatAreTooLongInATerminal) {
  text::Style narrow;
  narrow.columns = 80;
  const std::string text = to_text(listing_of(two_port_inventory()), narrow);
  EXPECT_NE(text.find("10.0.0.1"), std::string::npos);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 80u) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(Listing, ShowsNoTextOfOthersAsItIs) {
  host::Inventory inventory = two_port_inventory();
  inventory.nics[0].firmware = "28\x1b[2J\n";
  inventory.nics[0].pci->product.name = "card\xe2\x80\xae";
  const std::string text = to_text(listing_of(inventory), {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(lines_with(text, "  NIC0").size(), 2u);
  EXPECT_FALSE(nlohmann::json::parse(to_json(listing_of(inventory))).is_null());
}

TEST(GidAddress, IsWrittenAsPeopleWriteIt) {
  const auto of = [](const std::string& text) { return address_of({0, text, {}, {}}); };
  EXPECT_EQ(of("0000:0000:0000:0000:0000:ffff:c0a8:0001"), "192.168.0.1");
  EXPECT_EQ(of("fe80:0000:0000:0000:ba3f:d2ff:fe00:0001"), "fe80::ba3f:d2ff:fe00:1");
  EXPECT_EQ(of("fe80:0000:0000:0000:b83f:d203:00a5:1fb6"), "fe80::b83f:d203:a5:1fb6");
  for (const char* wrong : {"", "10.0.0.1", "0:0:0:0:0:0:0", "g000:0:0:0:0:0:0:0",
                            "00000:0:0:0:0:0:0:0x", "1:2:3:4:5:6:7:8:9"}) {
    EXPECT_EQ(of(wrong), wrong);
  }
}

TEST(GidType, FollowsTheLinkLayerIfTheKernelHasOneWordForBoth) {
  const host::Gid gid{0, {}, "IB/RoCE v1", {}};
  host::Port port;
  port.link_layer = "InfiniBand";
  EXPECT_EQ(type_of(gid, port), "InfiniBand");
  port.link_layer = "Ethernet";
  EXPECT_EQ(type_of(gid, port), "RoCE v1");
  EXPECT_EQ(type_of({0, {}, "RoCE v2", {}}, port), "RoCE v2");
}

}  // namespace
}  // namespace gdr::topo
