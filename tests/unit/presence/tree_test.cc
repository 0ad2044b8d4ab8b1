#include "presence/tree.h"

#include <endian.h>
#include <gtest/gtest.h>

#include <map>

namespace gdr::presence {
namespace {

GidFacts gid(std::uint32_t index, bool is_v2, std::initializer_list<std::uint8_t> last,
             const std::string& interface) {
  GidFacts made;
  made.index = index;
  made.is_v2 = is_v2;
  made.interface = interface;
  std::size_t at = 16 - last.size();
  for (const std::uint8_t byte : last) made.raw[at++] = byte;
  return made;
}

DeviceFacts device(const std::string& name, const std::string& node) {
  DeviceFacts facts;
  facts.name = name;
  facts.node_name = node;
  facts.firmware = "gdrkit 1.2";
  facts.node_guid = htobe64(0x0012'34ff'fe56'789a);
  facts.system_guid = htobe64(0xfedc'ba98'7654'3210);
  facts.port.state = IBV_PORT_ACTIVE;
  facts.port.phys_state = 5;
  facts.port.active_width = 2;
  facts.port.active_speed = 32;
  facts.port.port_cap_flags = 0x04010000;
  facts.gids = {gid(0, false, {0xab}, ""), gid(3, true, {0xff, 0xff, 10, 0, 0, 1}, "eth7")};
  facts.partition_keys = {0xffff, 0x8001};
  return facts;
}

std::map<std::string, Entry> tree_of(const std::vector<DeviceFacts>& devices,
                                     Counters counters = Counters::kNo) {
  std::map<std::string, Entry> tree;
  for (const Entry& entry : make_tree(devices, counters)) tree[entry.path] = entry;
  return tree;
}

std::string rate_of(std::uint8_t width, std::uint8_t speed) {
  DeviceFacts facts = device("d", "uverbs0");
  facts.port.active_width = width;
  facts.port.active_speed = speed;
  return tree_of({facts})["/sys/class/infiniband/d/ports/1/rate"].text;
}

TEST(Tree, SaysOfADeviceWhatTheLibrarySays) {
  auto tree = tree_of({device("mlx5_3", "uverbs0")});
  const std::string folder = "/sys/class/infiniband/mlx5_3/";
  EXPECT_EQ(tree[folder + "node_guid"].text, "0012:34ff:fe56:789a\n");
  EXPECT_EQ(tree[folder + "sys_image_guid"].text, "fedc:ba98:7654:3210\n");
  EXPECT_EQ(tree[folder + "fw_ver"].text, "gdrkit 1.2\n");
  EXPECT_EQ(tree[folder + "node_type"].text, "1: CA\n");
  EXPECT_EQ(tree[folder + "ports/1/state"].text, "4: ACTIVE\n");
  EXPECT_EQ(tree[folder + "ports/1/phys_state"].text, "5: LinkUp\n");
  EXPECT_EQ(tree[folder + "ports/1/link_layer"].text, "Ethernet\n");
  EXPECT_EQ(tree[folder + "ports/1/cap_mask"].text, "0x04010000\n");
  EXPECT_EQ(tree[folder + "ports/1/pkeys/1"].text, "0x8001\n");
}

// Whatever it is called, it is a stand-in: `gdr` itself and people tell it by these.
TEST(Tree, LabelsEveryDeviceAsSoftware) {
  auto tree = tree_of({device("mlx5_0", "uverbs0")});
  for (const char* file : {"hca_type", "board_id", "node_desc"}) {
    EXPECT_TRUE(tree[std::string("/sys/class/infiniband/mlx5_0/") + file].text.starts_with(
        "gdrkit software NIC"));
  }
}

TEST(Tree, ListsEachGidWithItsTypeAndItsInterfaceIfItHasOne) {
  auto tree = tree_of({device("d", "uverbs0")});
  const std::string port = "/sys/class/infiniband/d/ports/1/";
  EXPECT_EQ(tree[port + "gids/0"].text, "0000:0000:0000:0000:0000:0000:0000:00ab\n");
  EXPECT_EQ(tree[port + "gids/3"].text, "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
  EXPECT_EQ(tree[port + "gid_attrs/types/0"].text, "IB/RoCE v1\n");
  EXPECT_EQ(tree[port + "gid_attrs/types/3"].text, "RoCE v2\n");
  EXPECT_EQ(tree[port + "gid_attrs/ndevs/3"].text, "eth7\n");
  EXPECT_EQ(tree.count(port + "gid_attrs/ndevs/0"), 0u);
  EXPECT_EQ(tree.count(port + "gids/1"), 0u);
}

TEST(Tree, WordsRatesAsTheKernelDoes) {
  EXPECT_EQ(rate_of(1, 4), "10 Gb/sec (1X QDR)\n");
  EXPECT_EQ(rate_of(1, 32), "25 Gb/sec (1X EDR)\n");
  EXPECT_EQ(rate_of(2, 8), "40 Gb/sec (4X FDR10)\n");
  EXPECT_EQ(rate_of(16, 32), "50 Gb/sec (2X EDR)\n");
  EXPECT_EQ(rate_of(2, 64), "200 Gb/sec (4X HDR)\n");
  EXPECT_EQ(rate_of(2, 128), "400 Gb/sec (4X NDR)\n");
  EXPECT_EQ(rate_of(1, 1), "2.5 Gb/sec (1X SDR)\n");
}

TEST(Tree, GivesEachDeviceANodeOfItsOwn) {
  auto tree = tree_of({device("a", "uverbs0"), device("b", "uverbs1")});
  EXPECT_EQ(tree["/dev/infiniband/uverbs1"].kind, Entry::Kind::kDevice);
  EXPECT_EQ(tree["/sys/class/infiniband_verbs/uverbs1/ibdev"].text, "b\n");
  EXPECT_NE(tree["/sys/class/infiniband_verbs/uverbs0/dev"].text,
            tree["/sys/class/infiniband_verbs/uverbs1/dev"].text);
}

TEST(Tree, HasTheConnectionManagersNodeWhereThereAreDevices) {
  auto tree = tree_of({device("a", "uverbs0")});
  EXPECT_EQ(tree["/dev/infiniband/rdma_cm"].kind, Entry::Kind::kDevice);
  EXPECT_EQ(tree["/sys/class/misc/rdma_cm/abi_version"].text, "4\n");
  EXPECT_NE(tree["/sys/class/misc/rdma_cm/dev"].text,
            tree["/sys/class/infiniband_verbs/uverbs0/dev"].text);
  EXPECT_EQ(tree_of({}).count("/dev/infiniband/rdma_cm"), 0u);
}

// Files that nobody keeps up to date would pass for measurements.
TEST(Tree, HasCountersOnlyWhereSomebodyKeepsThem) {
  const auto is_count = [](const std::string& path) {
    return path.find("counters/") != path.npos || path.find("/cm_") != path.npos;
  };
  for (const auto& [path, entry] : tree_of({device("a", "uverbs0")})) {
    EXPECT_FALSE(is_count(path)) << path;
  }
  auto tree = tree_of({device("a", "uverbs0")}, Counters::kYes);
  const std::string port = "/sys/class/infiniband/a/ports/1/";
  EXPECT_EQ(tree[port + "counters/port_xmit_data"].text, "0\n");
  EXPECT_EQ(tree[port + "hw_counters/out_of_sequence"].text, "0\n");
  EXPECT_EQ(tree[port + "hw_counters/lifespan"].text, "10\n");
  EXPECT_EQ(tree[port + "cm_rx_msgs/req"].text, "0\n");
}

TEST(Tree, TellsUdevWhatTheKernelWould) {
  auto tree = tree_of({device("a", "uverbs0"), device("b", "uverbs1")});
  EXPECT_EQ(tree["/sys/class/infiniband/b/uevent"].text, "NAME=b\n");
  EXPECT_EQ(tree["/sys/class/infiniband_verbs/uverbs1/uevent"].text,
            "MAJOR=231\nMINOR=129\nDEVNAME=infiniband/uverbs1\nDEVMODE=0666\n");
  EXPECT_EQ(tree["/sys/class/infiniband/b/subsystem"].text, "../../../class/infiniband");
  EXPECT_EQ(tree["/sys/class/infiniband/b/power/control"].text, "auto\n");
}

}  // namespace
}  // namespace gdr::presence
