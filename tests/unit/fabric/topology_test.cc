#include <gtest/gtest.h>

#include "fabric/topology/leaves.h"
#include "fabric/topology/locate.h"
#include "made_up_fabric.h"

namespace gdr::fabric {
namespace {

TEST(FabricTopology, TopologyConfSaysWhichLeafEachHostHangsAt) {
  const Result<Leaves> leaves = read_topology_conf(
      "# the leaves\n"
      "SwitchName=s0 Nodes=n[01-02],login1 LinkSpeed=400\n"
      "switchname=s1 \\\n  NODES=n[03-04]  # the other one\n"
      "SwitchName=top Switches=s[0-1]\n");
  ASSERT_TRUE(leaves) << leaves.error().message;
  ASSERT_EQ(leaves->size(), 5U);
  EXPECT_EQ(leaves->at("n01").leaf, "s0");
  EXPECT_EQ(leaves->at("login1").leaf, "s0");
  EXPECT_EQ(leaves->at("n04").leaf, "s1");
}

TEST(FabricTopology, ErrorOfTopologyConfNamesTheLine) {
  for (const char* text :
       {"\nSwitchName=s0 Nodes=n[01-\n", "\nSwitchName=s0 Nodes\n", "\nSwitchName= Nodes=n1\n",
        "\nSwitchName=s0 Nodes=n1 Switches=s1\n", "\nSwitchName=\"s0\n"}) {
    const Result<Leaves> leaves = read_topology_conf(text);
    ASSERT_FALSE(leaves) << text;
    EXPECT_EQ(leaves.error().message.find("topology.conf line 2: "), 0U) << leaves.error().message;
    EXPECT_EQ(leaves.error().message.find('\n'), std::string::npos);
  }
}

TEST(FabricTopology, BlocksHaveNoLeaves) {
  const Result<Leaves> leaves = read_topology_conf("BlockName=b1 Nodes=n[01-18]\nBlockSizes=18\n");
  ASSERT_FALSE(leaves);
  EXPECT_EQ(leaves.error().code, ENOENT);
}

TEST(FabricTopology, TopologyYamlOfTreesIsRead) {
  const Result<Leaves> leaves = read_topology_yaml(
      "---\n"
      "- topology: one\n"
      "  cluster_default: true\n"
      "  tree:\n"
      "    switches:\n"
      "      - switch: top\n"
      "        children: s[0-1]\n"
      "      - switch: s0  # a leaf\n"
      "        nodes: n[01-02]\n"
      "      - switch: \"s1\"\n"
      "        nodes: \"n[03-04]\"\n"
      "- topology: two\n"
      "  block:\n"
      "    blocks:\n"
      "      - block: b1\n"
      "        nodes: m[01-18]\n");
  ASSERT_TRUE(leaves) << leaves.error().message;
  ASSERT_EQ(leaves->size(), 4U);
  EXPECT_EQ(leaves->at("n02").leaf, "s0");
  EXPECT_EQ(leaves->at("n03").leaf, "s1");
  EXPECT_FALSE(read_topology_yaml("a: b\n"));
  EXPECT_FALSE(read_topology_yaml("- switch: s0\n  nodes: n[1\n"));
}

constexpr const char* kDiscovered =
    "#\n# Topology file: generated on Thu Nov 26 10:12:00 2026\n#\n"
    "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0xb8cef60300000001\n"
    "switchguid=0xb8cef60300000001(b8cef60300000001)\n"
    "Switch\t41 \"S-b8cef60300000001\"\t\t# \"MF0;leaf1:MQM8700/U1\" enhanced port 0 lid 3 lmc 0\n"
    "[1]\t\"H-0c42a10300000001\"[1](c42a10300000001) \t\t# \"n01 mlx5_0\" lid 12 4xHDR\n"
    "[2]\t\"H-0c42a10300000003\"[1](c42a10300000003) \t\t# \"n02 mlx5_0\" lid 13 4xHDR\n"
    "[21]\t\"S-b8cef60300000003\"[1]\t\t# \"MF0;spine1:MQM8700/U1\" lid 5 4xHDR\n"
    "[41]\t\"H-b8cef60300000009\"[1](b8cef60300000009) \t\t# \"Mellanox Technologies Aggregation "
    "Node\" lid 9 4xHDR\n"
    "\nSwitch\t41 \"S-b8cef60300000002\"\t\t# \"MF0;leaf2:MQM8700/U1\" enhanced port 0 lid 4 lmc "
    "0\n"
    "[1]\t\"H-0c42a10300000002\"[1](c42a10300000002) \t\t# \"n01 mlx5_1\" lid 14 4xHDR\n"
    "[2]\t\"H-0c42a10300000003\"[2](c42a10300000004) \t\t# \"n02 mlx5_0\" lid 15 4xHDR\n"
    "\nSwitch\t41 \"S-b8cef60300000003\"\t\t# \"MF0;spine1:MQM8700/U1\" enhanced port 0 lid 5 lmc "
    "0\n"
    "[1]\t\"S-b8cef60300000001\"[21]\t\t# \"MF0;leaf1:MQM8700/U1\" lid 3 4xHDR\n"
    "[41]\t\"H-b8cef60300000019\"[1](b8cef60300000019) \t\t# \"Mellanox Technologies Aggregation "
    "Node\" lid 19 4xHDR\n"
    "\nvendid=0x2c9\ncaguid=0xc42a10300000001\n"
    "Ca\t1 \"H-0c42a10300000001\"\t\t# \"n01 mlx5_0\"\n"
    "[1](c42a10300000001) \t\"S-b8cef60300000001\"[1]\t\t# lid 12 lmc 0 \"MF0;leaf1:MQM8700/U1\" "
    "lid 3 4xHDR\n";

TEST(FabricTopology, IbnetdiscoverSaysWhichLeafEachNicHangsAt) {
  const Result<Leaves> leaves = read_ibnetdiscover(kDiscovered);
  ASSERT_TRUE(leaves) << leaves.error().message;
  ASSERT_EQ(leaves->size(), 2U);
  EXPECT_EQ(leaves->at("n01").of_nics.at("mlx5_0"), "leaf1");
  EXPECT_EQ(leaves->at("n01").of_nics.at("mlx5_1"), "leaf2");
  EXPECT_EQ(leaves->at("n02").of_nics.at("mlx5_0"), "leaf1");
  EXPECT_EQ(leaves->at("n02").of_nics.at("mlx5_0:2"), "leaf2");
  EXPECT_EQ(leaves->at("n01").leaf, "");
}

TEST(FabricTopology, SwitchesOfOneChassisKeepApart) {
  const Result<Leaves> leaves = read_ibnetdiscover(
      "Switch 36 \"S-01\" # \"MF0;big:CS7500/L01/U1\"\n[1] \"H-1\"[1](1) # \"n01 mlx5_0\"\n"
      "Switch 36 \"S-02\" # \"MF0;big:CS7500/L02/U1\"\n[1] \"H-2\"[1](2) # \"n02 mlx5_0\"\n"
      "Switch 36 \"S-03\" # \"same\"\n[1] \"H-3\"[1](3) # \"n03 mlx5_0\"\n"
      "Switch 36 \"S-04\" # \"same\"\n[1] \"H-4\"[1](4) # \"n04 mlx5_0\"\n");
  ASSERT_TRUE(leaves) << leaves.error().message;
  EXPECT_EQ(leaves->at("n01").leaf, "MF0;big:CS7500/L01/U1");
  EXPECT_EQ(leaves->at("n02").leaf, "MF0;big:CS7500/L02/U1");
  EXPECT_EQ(leaves->at("n03").leaf, "S-03");
}

TEST(FabricTopology, RubbishIsAnErrorOrNothingButNoCrash) {
  Random random(5);
  const std::string whole = std::string(kDiscovered) + "SwitchName=s Nodes=n[1-4]\n- switch: x\n";
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole.substr(0, random.below(whole.size()));
    for (std::uint64_t change = random.below(8); change > 0 && !text.empty(); --change) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    for (const auto& read : {read_ibnetdiscover, read_topology_conf, read_topology_yaml}) {
      const Result<Leaves> leaves = read(text);
      EXPECT_TRUE(leaves || leaves.error().message.find('\n') == std::string::npos);
    }
  }
}

Report two_hosts() {
  Report report;
  for (const char* name : {"n01", "n02.example.org"}) {
    Host host;
    host.name = name;
    for (const char* nic : {"mlx5_0", "mlx5_1"}) {
      Rail rail;
      rail.nic = nic;
      rail.leaf = std::string("lldp-") + nic;
      host.rails.push_back(rail);
    }
    report.hosts.push_back(host);
  }
  return report;
}

TEST(FabricTopology, SlurmComesBeforeIbnetdiscoverAndThatBeforeLldp) {
  const std::string conf = "SwitchName=s0 Nodes=n[01-02]\n";
  Report report = two_hosts();
  EXPECT_TRUE(
      locate({.topology_yaml = "", .topology_conf = conf, .ibnetdiscover = kDiscovered}, &report)
          .empty());
  EXPECT_EQ(report.topology, "topology.conf");
  EXPECT_EQ(report.hosts[1].leaf, "s0");
  EXPECT_EQ(report.hosts[1].rails[1].leaf, "s0");
  report = two_hosts();
  locate({.topology_yaml = "", .topology_conf = "", .ibnetdiscover = kDiscovered}, &report);
  EXPECT_EQ(report.topology, "ibnetdiscover");
  EXPECT_EQ(report.hosts[0].leaf, "leaf1");
  EXPECT_EQ(report.hosts[0].rails[1].leaf, "leaf2");
  report = two_hosts();
  locate({}, &report);
  EXPECT_EQ(report.topology, "LLDP");
  EXPECT_EQ(report.hosts[0].leaf, "lldp-mlx5_0");
  EXPECT_EQ(report.hosts[0].rails[1].leaf, "lldp-mlx5_1");
}

TEST(FabricTopology, SourceThatCannotBeUsedIsSaidAndTheNextOneTaken) {
  Report report = two_hosts();
  const std::vector<std::string> notes = locate({.topology_yaml = "",
                                                 .topology_conf = "SwitchName=s0 Nodes=n[1\n",
                                                 .ibnetdiscover = "Switch 1 \"S-1\" # \"x\"\n"},
                                                &report);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].find("topology.conf line 1: "), 0U);
  EXPECT_EQ(notes[1], "ibnetdiscover: it knows fewer than half of these hosts");
  EXPECT_EQ(report.topology, "LLDP");
}

TEST(FabricTopology, LatencyGroupsHostsUnderOneLeaf) {
  MadeUpFabric fabric({.hosts = 32, .hosts_per_leaf = 8, .rounds = 0, .leaves_known = false});
  fabric.measure_planned();
  EXPECT_TRUE(leaf_numbers(fabric.report).empty());
  locate({}, &fabric.report);
  EXPECT_EQ(fabric.report.topology, "latency");
  for (HostIndex host = 0; host < 32; ++host) {
    EXPECT_EQ(fabric.report.hosts[host].leaf, "group " + std::to_string(host / 8 + 1));
  }
  EXPECT_EQ(leaf_numbers(fabric.report).at(31), 3U);
}

TEST(FabricTopology, LatencyThatDoesNotFallIntoTwoGroupsSaysNothing) {
  for (const std::uint32_t per_leaf : {32U, 1U}) {
    MadeUpFabric fabric(
        {.hosts = 32, .hosts_per_leaf = per_leaf, .rounds = 0, .leaves_known = false});
    fabric.measure_planned();
    locate({}, &fabric.report);
    EXPECT_EQ(fabric.report.topology, "") << per_leaf;
  }
  // So few near pairs join nobody.
  MadeUpFabric fabric({.hosts = 512, .hosts_per_leaf = 8, .rounds = 4, .leaves_known = false});
  fabric.measure_planned();
  locate({}, &fabric.report);
  EXPECT_EQ(fabric.report.topology, "");
}

}  // namespace
}  // namespace gdr::fabric
