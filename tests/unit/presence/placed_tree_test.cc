// The tree of a device that has a place in the PCI tree.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "presence/tree.h"
#include "scratch_folder.h"

namespace gdr::presence {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFunction = "/sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0";

DeviceFacts placed_device(const std::string& name, const std::string& node,
                          const std::string& address) {
  DeviceFacts facts;
  facts.name = name;
  facts.node_name = node;
  facts.port.active_width = 2;
  facts.port.active_speed = 32;
  Place place;
  place.address = address;
  place.parent = "/sys/devices/pci0000:16/0000:16:01.0";
  place.numa_node = "1";
  place.local_cpus = "ff00";
  place.local_cpulist = "8-15";
  facts.place = place;
  return facts;
}

std::map<std::string, Entry> entries_by_path(const std::vector<DeviceFacts>& devices) {
  std::map<std::string, Entry> tree;
  for (const Entry& entry : make_tree(devices, Counters::kNo)) {
    EXPECT_TRUE(tree.emplace(entry.path, entry).second) << entry.path << " twice";
  }
  return tree;
}

// On a disk, so that its links lead somewhere.
struct WrittenTree : test::ScratchFolder {
  explicit WrittenTree(const std::vector<DeviceFacts>& devices) {
    for (const Entry& entry : make_tree(devices, Counters::kNo)) {
      const std::string path = entry.path.substr(1);
      if (entry.kind == Entry::Kind::kLink) {
        link(path, entry.text);
      } else {
        write(path, entry.text);
      }
    }
  }
  std::string real(const std::string& path) const {
    return fs::canonical(at(path)).string().substr(root().size());
  }
};

TEST(PlacedTree, LeadsFromTheClassToTheFunctionAndBack) {
  const WrittenTree tree({placed_device("soft0", "uverbs0", "0000:17:00.0")});
  const std::string function = kFunction;
  EXPECT_EQ(tree.real("sys/class/infiniband/soft0"), function + "/infiniband/soft0");
  EXPECT_EQ(tree.real("sys/class/infiniband/soft0/device"), function);
  EXPECT_EQ(tree.real("sys/class/infiniband_verbs/uverbs0/device"), function);
  EXPECT_EQ(tree.real("sys/class/infiniband/soft0/subsystem"), "/sys/class/infiniband");
  EXPECT_EQ(tree.real("sys/bus/pci/devices/0000:17:00.0"), function);
  // By NCCL.
  EXPECT_EQ(tree.real("sys/class/pci_bus/0000:17/../../0000:17:00.0"), function);
  EXPECT_EQ(test::text_of_file(tree.at("sys/class/infiniband/soft0/ports/1/link_layer")),
            "Ethernet\n");
}

TEST(PlacedTree, WritesLinksAsTheKernelDoes) {
  auto tree = entries_by_path({placed_device("soft0", "uverbs0", "0000:17:00.0")});
  EXPECT_EQ(tree["/sys/class/infiniband/soft0"].text,
            "../../devices/pci0000:16/0000:16:01.0/0000:17:00.0/infiniband/soft0");
  EXPECT_EQ(tree[std::string(kFunction) + "/infiniband/soft0/device"].text,
            "../../../0000:17:00.0");
  EXPECT_EQ(tree["/sys/bus/pci/devices/0000:17:00.0"].text,
            "../../../devices/pci0000:16/0000:16:01.0/0000:17:00.0");
  EXPECT_EQ(tree[std::string(kFunction) + "/subsystem"].text, "../../../../bus/pci");
}

TEST(PlacedTree, IsAsNearAsWhatIsAroundIt) {
  auto tree = entries_by_path({placed_device("soft0", "uverbs0", "0000:17:00.0")});
  const std::string folder = std::string(kFunction) + "/";
  EXPECT_EQ(tree[folder + "numa_node"].text, "1\n");
  EXPECT_EQ(tree[folder + "local_cpus"].text, "ff00\n");
  EXPECT_EQ(tree[folder + "local_cpulist"].text, "8-15\n");
}

// Neither by number nor by name anybody's hardware.
TEST(PlacedTree, HasNoMakersNumbersAndSaysWhatItIs) {
  auto tree = entries_by_path({placed_device("mlx5_0", "uverbs0", "0000:17:00.0")});
  const std::string folder = std::string(kFunction) + "/";
  for (const char* file : {"vendor", "device", "subsystem_vendor", "subsystem_device"}) {
    EXPECT_EQ(tree[folder + file].text, "0x0000\n") << file;
  }
  EXPECT_EQ(tree[folder + "label"].text, "gdrkit software NIC\n");
  EXPECT_EQ(tree[folder + "class"].text, "0x020000\n");
  EXPECT_EQ(tree[folder + "config"].text.substr(0, 4), std::string(4, '\0'));
  EXPECT_EQ(tree.count(folder + "driver"), 0u);
}

TEST(PlacedTree, HasALinkThatCarriesThePortsSpeed) {
  struct Case {
    std::uint8_t width, speed;
    const char *link, *lanes;
    unsigned code;
  };
  for (const Case& one : {Case{1, 32, "8.0 GT/s PCIe\n", "8\n", 0x83},         // 25 Gb/s
                          Case{2, 32, "8.0 GT/s PCIe\n", "16\n", 0x103},       // 100
                          Case{2, 64, "16.0 GT/s PCIe\n", "16\n", 0x104},      // 200
                          Case{2, 128, "32.0 GT/s PCIe\n", "16\n", 0x105}}) {  // 400
    DeviceFacts device = placed_device("d", "uverbs0", "0000:17:00.0");
    device.port.active_width = one.width;
    device.port.active_speed = one.speed;
    auto tree = entries_by_path({device});
    const std::string folder = std::string(kFunction) + "/";
    EXPECT_EQ(tree[folder + "max_link_speed"].text, one.link);
    EXPECT_EQ(tree[folder + "current_link_width"].text, one.lanes);
    const std::string& bytes = tree[folder + "config"].text;
    ASSERT_EQ(bytes.size(), 4096u);
    EXPECT_EQ(static_cast<unsigned char>(bytes[0x52]) | static_cast<unsigned char>(bytes[0x53])
                                                            << 8,
              static_cast<int>(one.code));
  }
}

TEST(PlacedTree, ShowsTheInterfaceThatHasItsAddress) {
  DeviceFacts device = placed_device("soft0", "uverbs0", "0000:17:00.0");
  EXPECT_EQ(entries_by_path({device}).count(std::string(kFunction) + "/net/eth7"), 0u);
  device.interface = "eth7";
  EXPECT_EQ(entries_by_path({device})[std::string(kFunction) + "/net/eth7"].text,
            "/sys/class/net/eth7");
}

TEST(PlacedTree, HoldsSeveralFunctionsOfOneBusAndDevicesWithoutAPlace) {
  DeviceFacts without = placed_device("soft2", "uverbs2", "");
  without.place.reset();
  auto tree = entries_by_path({placed_device("soft0", "uverbs0", "0000:17:00.0"),
                               placed_device("soft1", "uverbs1", "0000:17:00.1"), without});
  EXPECT_EQ(tree.count("/sys/bus/pci/devices/0000:17:00.1"), 1u);
  EXPECT_EQ(tree["/sys/class/infiniband/soft2/node_type"].text, "1: CA\n");
  EXPECT_EQ(tree.count("/sys/class/infiniband/soft2/device"), 0u);
}

TEST(PlacedTree, TellsThePreloadedLibraryWhatBelongsToIt) {
  DeviceFacts elsewhere = placed_device("soft1", "uverbs1", "0001:01:00.0");
  elsewhere.place->parent = "/sys/devices/pci0001:01";
  elsewhere.place->parent_is_made_up = true;
  EXPECT_EQ(make_places({placed_device("soft0", "uverbs0", "0000:17:00.0"), elsewhere}),
            "all /sys/bus/pci/devices/0000:17:00.0\n"
            "all /sys/bus/pci/devices/0001:01:00.0\n"
            "all /sys/class/misc/rdma_cm\n"
            "all /sys/class/pci_bus/0000:17\n"
            "all /sys/class/pci_bus/0001:01\n"
            "all /sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0\n"
            "all /sys/devices/pci0001:01\n"
            "list /sys/bus/pci/devices\n"
            "list /sys/class/misc\n"
            "list /sys/class/pci_bus\n");
  elsewhere.place.reset();
  EXPECT_EQ(make_places({elsewhere}), "all /sys/class/misc/rdma_cm\nlist /sys/class/misc\n");
  EXPECT_EQ(make_places({}), "");
}

}  // namespace
}  // namespace gdr::presence
