// Machines with one NUMA node, and those whose nodes are not shown.
#include <gtest/gtest.h>

#include <algorithm>

#include "described_machine.h"
#include "host/best_nic.h"
#include "host/grade.h"
#include "host/nccl_grade.h"
#include "host/source/hwloc_xml.h"
#include "host/source/lspci.h"
#include "machine.h"

namespace gdr::host {
namespace {

using test::DescribedMachine;

constexpr const char *kGpu = "0000:41:00.0", *kNic = "0000:81:00.0";

std::string grade(const Inventory& machine) {
  const auto path = path_between(machine.pci, *machine.pci.find(kGpu), *machine.pci.find(kNic));
  return path ? name_of(*path) : "unknown";
}

Inventory of(Result<Inventory> machine) {
  EXPECT_TRUE(machine) << machine.error().message;
  return machine ? *std::move(machine) : Inventory();
}

// GPU and NIC on host bridges of their own.
DescribedMachine two_bridges(int gpu_node, int nic_node) {
  DescribedMachine machine;
  machine.gpu(kGpu, "0000:40:01.0", gpu_node);
  machine.nic("mlx5_0", kNic, "0000:80:01.0", nic_node);
  return machine;
}

bool says_nodes_are_unknown(const Inventory& machine) {
  return std::ranges::any_of(machine.unseen, [](const std::string& sentence) {
    return sentence.find("NODE or SYS") != std::string::npos;
  });
}

// As sysfs shows it, with these nodes in numa_node.
Inventory in_sysfs(int gpu_node, int nic_node, bool second_node, bool folder = true) {
  test::Machine machine;
  for (const bool gpu : {true, false}) {
    test::MachineFunction port;
    port.address = gpu ? "0000:40:01.0" : "0000:80:01.0";
    port.parent = gpu ? "pci0000:40" : "pci0000:80";
    port.kind = 4;
    port.node = gpu ? gpu_node : nic_node;
    test::MachineFunction device = port;
    device.parent = port.address;
    device.address = gpu ? kGpu : kNic;
    device.kind = 0;
    device.vendor = gpu ? 0x10de : 0x15b3;
    device.device = gpu ? 0x2330 : 0x101d;
    device.class_code = gpu ? 0x030200 : 0x020000;
    machine.functions.push_back(port);
    machine.functions.push_back(device);
  }
  test::MachineNic nic;
  nic.name = "mlx5_0";
  nic.address = kNic;
  nic.netdev = "ens1np0";
  machine.nics.push_back(nic);
  machine.write_all();
  const std::string nodes = machine.root() + "/sys/devices/system/node";
  if (!second_node) std::filesystem::remove_all(nodes + "/node1");
  if (!folder) std::filesystem::remove_all(nodes);
  return take_inventory(machine.root());
}

TEST(OneNode, IsTheNodeOfDevicesThatNameNone) {
  EXPECT_EQ(grade(in_sysfs(-1, -1, false)), "NODE");
  EXPECT_EQ(grade(in_sysfs(0, -1, false)), "NODE");
  EXPECT_EQ(grade(in_sysfs(-1, 0, false)), "NODE");
  EXPECT_EQ(grade(of(read_hwloc_xml(two_bridges(-1, -1).hwloc()))), "NODE");
  EXPECT_EQ(grade(of(read_hwloc_xml(two_bridges(0, -1).hwloc()))), "NODE");
}

TEST(OneNode, IsNotClaimedOfAMachineWithTwo) {
  EXPECT_EQ(grade(in_sysfs(0, 1, true)), "SYS");
  EXPECT_EQ(grade(in_sysfs(1, 1, true)), "NODE");
  DescribedMachine machine = two_bridges(0, 1);
  machine.nodes = 2;
  EXPECT_EQ(grade(of(read_hwloc_xml(machine.hwloc()))), "SYS");
}

TEST(OneNode, IsNotAnotherNodeWhereItIsNotKnown) {
  for (const Inventory& machine : {in_sysfs(-1, -1, true), in_sysfs(0, -1, true)}) {
    EXPECT_EQ(grade(machine), "unknown");
    EXPECT_TRUE(says_nodes_are_unknown(machine));
  }
  EXPECT_EQ(grade(in_sysfs(-1, -1, false, false)), "unknown") << "a capture without the folder";
  DescribedMachine machine = two_bridges(0, -1);
  machine.nodes = 2;
  const Inventory hwloc = of(read_hwloc_xml(machine.hwloc()));
  EXPECT_EQ(grade(hwloc), "unknown");
  EXPECT_TRUE(says_nodes_are_unknown(hwloc));
}

TEST(OneNode, CountsNodesWithProcessorsAlone) {
  // Grace with the memory of its GPU as a node of its own.
  DescribedMachine machine = two_bridges(-1, -1);
  std::string xml = machine.hwloc();
  const std::string memory =
      "<object type=\"NUMANode\" os_index=\"1\" nodeset=\"0x2\" cpuset=\"\"/>";
  xml.insert(xml.find("<object type=\"Package\""), memory);
  xml.replace(xml.find("0x00000001"), 10, "0x00000003");  // of the machine
  EXPECT_EQ(grade(of(read_hwloc_xml(xml))), "NODE");
}

TEST(OneNode, IsNeverClaimedByTheTreeTextOfLspci) {
  const Inventory machine = of(read_lspci({{"a.txt", two_bridges(-1, -1).lspci_tree()}}));
  EXPECT_EQ(grade(machine), "unknown");
  EXPECT_TRUE(says_nodes_are_unknown(machine));
  EXPECT_FALSE(
      nccl_path_between(machine.pci, *machine.pci.find(kGpu), *machine.pci.find(kNic)).has_value())
      << "NCCL sees the nodes, which are not shown here";
  const Inventory verbose = of(read_lspci({{"a.txt", two_bridges(-1, -1).lspci_verbose()}}));
  EXPECT_EQ(grade(verbose), "unknown");
}

TEST(OneNode, OfAHostBridgeIsThatOfAllBelowIt) {
  DescribedMachine machine = two_bridges(0, -1);
  machine.nic("mlx5_1", "0000:82:00.0", "0000:80:02.0", 1);
  const Inventory found = of(read_lspci({{"a.txt", machine.lspci_verbose()}}));
  EXPECT_EQ(grade(found), "SYS") << "mlx5_1 on the same host bridge is on node 1";
}

TEST(OneNode, DoesNotPreferANicBecauseItNamesTheNode) {
  Inventory machine = of(read_hwloc_xml(two_bridges(0, -1).hwloc()));
  const auto choices = choose_nics(machine);
  ASSERT_EQ(choices.size(), 1u);
  ASSERT_TRUE(choices[0].nics.front().path);
  EXPECT_EQ(*choices[0].nics.front().path, PciPath::kNode);
}

}  // namespace
}  // namespace gdr::host
