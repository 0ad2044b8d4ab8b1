// Descriptions of machines by NCCL and hwloc: small ones of our own, and wrong ones.
#include <gtest/gtest.h>

#include "described.h"
#include "host/nccl_grade.h"
#include "host/source/hwloc_xml.h"
#include "host/source/nccl_xml.h"
#include "host/source/xml.h"

namespace gdr::host {
namespace {

TEST(Xml, HasElementsAttributesTextAndCharactersByName) {
  const auto root = read_xml(
      "<?xml version=\"1.0\"?>\n<!-- <not> one -->\n<!DOCTYPE a SYSTEM \"a.dtd\">\n"
      "<a one='1 &lt; 2' two=\"&#65;&#x42;\">x<b/>y &amp; z<!-- - -->\n</a>\n");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->name, "a");
  EXPECT_EQ(root->line, 4u);
  EXPECT_EQ(root->attribute("one"), "1 < 2");
  EXPECT_EQ(root->attribute("two"), "AB");
  EXPECT_EQ(root->attribute("three"), "");
  EXPECT_EQ(root->text, "xy & z\n");
  ASSERT_EQ(root->children.size(), 1u);
  EXPECT_EQ(root->children[0].name, "b");
}

TEST(Xml, RefusesWhatIsMalformedAndSaysWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "no XML element"},
      {"<a>", "<a> has no end"},
      {"<a>\n</b>", "line 2: </b> where <a> is open"},
      {"</a>", "</a> has no opening tag"},
      {"<a/><b/>", "second element"},
      {"<a b=1/>", "no quotation marks"},
      {"<a b=\"1/>", "has no end"},
      {"<a b='1' b='2'/>", "given twice"},
      {"<a>&unknown;</a>", "unknown character after '&'"},
      {"<a>&#0;</a>", "unknown character after '&'"},
      {"<!DOCTYPE a [<!ENTITY x \"y\">]><a/>", "DOCTYPE with definitions"},
      {"<!-- <a/>", "comment has no end"},
      {"<![CDATA[x]]>", "neither a comment nor"},
      {"text", "text outside"},
  };
  for (const auto& [document, expected] : cases) {
    const auto root = read_xml(document);
    ASSERT_FALSE(root) << document;
    EXPECT_NE(root.error().message.find(expected), std::string::npos)
        << document << ": " << root.error().message;
  }
}

TEST(Xml, IsNoDeeperThanAMachine) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  const auto root = read_xml(deep);
  ASSERT_FALSE(root);
  EXPECT_NE(root.error().message.find("deeper"), std::string::npos);
}

// NCCL

constexpr const char* kNcclMachine = R"(<system version="1">
  <cpu numaid="0" affinity="00000000,0000ffff" arch="x86_64">
    <pci busid="0000:01:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:03:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="80" rank="0" gdr="1">
          <nvlink target="0000:81:00.0" count="4" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:05:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
        <pci busid="0000:07:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="8">
          <nic><net name="mlx5_0" dev="0" speed="200000" port="1" gdr="1"/></nic>
        </pci>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1">
    <pci busid="00000000:81:00.0" class="0x030200"/>
  </cpu>
</system>)";

TEST(NcclXml, HasNamesNodesLinksAndGrades) {
  const auto machine = read_nccl_xml(kNcclMachine);
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->gpus.size(), 2u);
  ASSERT_EQ(machine->nics.size(), 1u);
  EXPECT_EQ(machine->nics[0].name, "mlx5_0");
  EXPECT_EQ(machine->nics[0].numa_node, 0);
  EXPECT_EQ(machine->nics[0].pci->links.at(0).most_width, 8u);
  EXPECT_EQ(machine->nics[0].pci->links.at(0).most_speed, 16);
  ASSERT_EQ(machine->numa_nodes.size(), 2u);
  EXPECT_EQ(machine->numa_nodes[0].processors, "0-15");
  ASSERT_EQ(machine->nvlinks.size(), 1u);
  EXPECT_EQ(machine->nvlinks[0].count, 4u);
  EXPECT_EQ(grade(*machine, "0000:03:00.0", "0000:07:00.0"), "PXB");
  EXPECT_EQ(nccl_grade(machine->pci, "0000:03:00.0", "0000:07:00.0"), "PXB");
  EXPECT_EQ(grade(*machine, "0000:81:00.0", "0000:07:00.0"), "SYS");
  EXPECT_EQ(nccl_grade(machine->pci, "0000:81:00.0", "0000:07:00.0"), "SYS");
  EXPECT_FALSE(machine->flat) << "the root ports are left out";
}

TEST(NcclXml, JoinsGpusOverNvSwitchesByTheirLinks) {
  const auto machine = read_nccl_xml(R"(<system version="1"><cpu numaid="0">
    <pci busid="0000:19:00.0" class="0x030200"><gpu>
      <nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu></pci>
    <pci busid="0000:3b:00.0" class="0x030200"><gpu>
      <nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu></pci>
    </cpu></system>)");
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->nvlinks.size(), 1u);
  EXPECT_EQ(machine->nvlinks[0].a, "0000:19:00.0");
  EXPECT_EQ(machine->nvlinks[0].b, "0000:3b:00.0");
  EXPECT_EQ(machine->nvlinks[0].count, 18u);
}

TEST(NcclXml, RefusesWhatIsNoTopology) {
  EXPECT_NE(error_of(read_nccl_xml("<topology/>")).find("found <topology>"), std::string::npos);
  EXPECT_NE(error_of(read_nccl_xml("<system/>")).find("without any <pci>"), std::string::npos);
  EXPECT_NE(
      error_of(read_nccl_xml("<system><cpu numaid=\"99999999999\"/></system>")).find("NUMA node"),
      std::string::npos);
  EXPECT_NE(error_of(read_nccl_xml("<system><cpu numaid=\"0\"><pci busid=\"x\"/></cpu></system>"))
                .find("without a PCI address"),
            std::string::npos);
  EXPECT_NE(error_of(read_nccl_xml("<system><cpu numaid='0'><pci busid='0000:01:00.0'/>\n"
                                   "<pci busid='0000:01:00.0'/></cpu></system>"))
                .find("line 2: 0000:01:00.0 is described twice"),
            std::string::npos);
}

// hwloc

constexpr const char* kHwlocMachine = R"(<topology version="2.0">
  <object type="Machine" nodeset="0x00000003">
    <info name="DMIProductName" value="PowerEdge R760"/>
    <object type="Package" nodeset="0x00000002">
      <object type="NUMANode" os_index="1" nodeset="0x00000002" cpuset="0x0000ff00"/>
      <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[80-90]">
        <object type="Bridge" bridge_type="1-1" bridge_pci="0000:[81-81]" pci_busid="0000:80:01.0"
                pci_type="0604 [8086:352a] [0000:0000] 04">
          <object type="PCIDev" pci_busid="0000:81:00.0" pci_type="0200 [15b3:1021] [15b3:0023] 00">
            <object type="OSDev" name="ens1f0np0" osdev_type="2"/>
            <object type="OSDev" name="mlx5_0" osdev_type="3"/>
          </object>
          <object type="PCIDev" pci_busid="0000:81:00.1" pci_type="0200 [15b3:1021] [15b3:0023] 00"/>
        </object>
      </object>
    </object>
  </object>
  <distances2 type="NUMANode" nbobjs="2" kind="5">
    <indexes length="3">0 1 </indexes>
    <u64values length="4">10 21 </u64values><u64values length="4">21 10 </u64values>
  </distances2>
</topology>)";

TEST(HwlocXml, HasNumbersNamesNodesAndDistances) {
  const auto machine = read_hwloc_xml(kHwlocMachine);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->product, "PowerEdge R760");
  ASSERT_EQ(machine->nics.size(), 2u);
  EXPECT_EQ(machine->nics[0].name, "mlx5_0");
  EXPECT_EQ(machine->nics[1].name, "0000:81:00.1") << "without an RDMA name";
  const PciFunction& nic = *machine->nics[0].pci;
  EXPECT_EQ(nic.path, (std::vector<std::string>{"pci0000:80", "0000:80:01.0", "0000:81:00.0"}));
  EXPECT_EQ(nic.vendor, 0x15b3);
  EXPECT_EQ(nic.device, 0x1021);
  EXPECT_EQ(nic.subsystem_device, 0x0023);
  EXPECT_EQ(nic.class_code, 0x020000u);
  EXPECT_EQ(nic.numa_node, 1);
  EXPECT_FALSE(nic.configuration_read);
  ASSERT_EQ(machine->numa_nodes.size(), 1u);
  EXPECT_EQ(machine->numa_nodes[0].processors, "8-15");
  EXPECT_EQ(machine->numa_nodes[0].distances, (std::vector<int>{21, 10}));
  EXPECT_FALSE(machine->flat);
  EXPECT_FALSE(machine->unseen.empty());
}

TEST(HwlocXml, RefusesWhatIsNoTopology) {
  EXPECT_NE(error_of(read_hwloc_xml("<system/>")).find("found <system>"), std::string::npos);
  EXPECT_NE(error_of(read_hwloc_xml("<topology><object type='Machine'/></topology>"))
                .find("lstopo --whole-io"),
            std::string::npos);
}

}  // namespace
}  // namespace gdr::host
