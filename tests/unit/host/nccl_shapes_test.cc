// NCCL's topology files in all their shapes: every RDMA device, port and name is there.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/source/hwloc_xml.h"
#include "host/source/nccl_xml.h"

namespace gdr::host {
namespace {

Inventory of(const std::string& below_cpu) {
  auto machine =
      read_nccl_xml("<system version=\"1\"><cpu numaid=\"0\">" + below_cpu + "</cpu></system>");
  EXPECT_TRUE(machine) << machine.error().message;
  return machine ? *std::move(machine) : Inventory();
}

std::string nic(const std::string& nets, const std::string& address = "0000:07:00.0") {
  return "<pci busid=\"" + address + "\" class=\"0x020700\">" + nets + "</pci>";
}

// "mlx5_0 1, mlx5_1 1"
std::string ports_of(const Nic& nic) {
  std::string text;
  for (const Port& port : nic.ports) {
    text +=
        (text.empty() ? "" : ", ") + rdma_name_of(nic, port) + " " + std::to_string(port.number);
  }
  return text;
}

TEST(NcclShapes, HaveSeveralDevicesOfOneCardInOneRow) {
  const Inventory machine =
      of(nic("<nic><net name='mlx5_0' dev='0' port='1' speed='200000'/>"
             "<net name='mlx5_1' dev='1' port='1' speed='200000'/></nic>"));
  ASSERT_EQ(machine.nics.size(), 1u);
  EXPECT_EQ(names_of(machine.nics[0]), "mlx5_0, mlx5_1");
  EXPECT_EQ(ports_of(machine.nics[0]), "mlx5_0 1, mlx5_1 1");
  EXPECT_EQ(rate_of(machine.nics[0].ports.at(0)), 200);
}

TEST(NcclShapes, HaveSeveralPortsOfOneDevice) {
  const Inventory machine = of(
      nic("<nic><net name='mlx5_0' dev='0' port='1'/><net name='mlx5_0' dev='1' port='2'/></nic>"));
  ASSERT_EQ(machine.nics.size(), 1u);
  EXPECT_EQ(names_of(machine.nics[0]), "mlx5_0");
  EXPECT_EQ(ports_of(machine.nics[0]), "mlx5_0 1, mlx5_0 2");
}

TEST(NcclShapes, HaveSeveralNicsInOnePciElement) {
  const Inventory machine =
      of(nic("<nic><net name='mlx5_0' port='1'/></nic>"
             "<nic><net name='mlx5_1' port='1'/></nic>"
             "<net name='mlx5_2' port='1'/>"));
  ASSERT_EQ(machine.nics.size(), 1u);
  EXPECT_EQ(names_of(machine.nics[0]), "mlx5_0, mlx5_1, mlx5_2");
}

TEST(NcclShapes, KeepEqualNamesOfDifferentFunctionsApart) {
  const Inventory machine =
      of(nic("<nic><net name='efa'/></nic>") + nic("<nic><net name='efa'/></nic>", "0000:08:00.0"));
  ASSERT_EQ(machine.nics.size(), 2u);
  EXPECT_EQ(machine.nics[0].pci_address, "0000:07:00.0");
  EXPECT_EQ(machine.nics[1].pci_address, "0000:08:00.0");
}

TEST(NcclShapes, ListWhatIsRepeatedOnce) {
  const Inventory machine =
      of(nic("<nic><net name='mlx5_0' port='1'/><net name='mlx5_0' port='1'/></nic>"));
  EXPECT_EQ(ports_of(machine.nics.at(0)), "mlx5_0 1");
}

TEST(NcclShapes, HaveANicWithoutAnyNet) {
  EXPECT_EQ(of(nic("<nic/>")).nics.size(), 1u);
  EXPECT_EQ(of(nic("")).nics.size(), 1u);
}

// What stands below tells GPUs, NICs and switches where a provider left classes out.
TEST(NcclShapes, NeedNoClasses) {
  const Inventory machine =
      of("<pci busid='0000:01:00.0'><pci busid='0000:03:00.0'><gpu dev='0'/></pci>"
         "<pci busid='0000:04:00.0'><nic><net name='mlx5_0'/></nic></pci></pci>");
  ASSERT_EQ(machine.gpus.size(), 1u);
  ASSERT_EQ(machine.nics.size(), 1u);
  EXPECT_TRUE(machine.pci.find("0000:01:00.0")->is_bridge());
}

TEST(NcclShapes, LeaveSocketsOfVirtualNicsOut) {
  const Inventory machine =
      of("<pci busid='0000:00:05.0' class='0x020000' vendor='0x1d0f' "
         "device='0xec20'><nic><net name='ens5'/></nic></pci>" +
         nic("<nic><net name='rdmap16s27'/></nic>"));
  ASSERT_EQ(machine.nics.size(), 1u);
  EXPECT_EQ(machine.nics[0].name, "rdmap16s27");
}

TEST(NcclShapes, NameNicsWithoutAPciFunction) {
  const Inventory machine =
      of(nic("<nic><net name='mlx5_0'/></nic>") + "<nic><net name='eth0'/></nic>");
  EXPECT_EQ(machine.nics.size(), 1u);
  ASSERT_EQ(machine.notes.size(), 1u);
  EXPECT_NE(machine.notes[0].find("eth0"), std::string::npos);
}

TEST(NcclShapes, HaveAtMostAsManyNamesAndPortsAsAMachine) {
  std::string nets;
  for (int i = 0; i < 5000; ++i) nets += "<net name='n" + std::to_string(i) + "' port='1'/>";
  const Inventory machine = of(nic("<nic>" + nets + "</nic>"));
  EXPECT_LE(machine.nics.at(0).more_names.size(), 64u);
  EXPECT_LE(machine.nics.at(0).ports.size(), 256u);
}

TEST(HwlocShapes, HaveEveryRdmaDeviceOfAFunctionWithItsPorts) {
  const char* xml = R"(<topology version="2.0"><object type="Machine" nodeset="0x1">
    <object type="NUMANode" nodeset="0x1" cpuset="0xff"/>
    <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[80-81]">
    <object type="Bridge" bridge_type="1-1" bridge_pci="0000:[81-81]" pci_busid="0000:80:01.0"
      pci_type="0604 [8086:352a] [0000:0000] 04">
      <object type="PCIDev" pci_busid="0000:81:00.0" pci_type="0200 [15b3:1021] [15b3:0023] 00">
        <object type="OSDev" name="ens1np0" osdev_type="2">
          <info name="Address" value="0c:42:a1:00:00:01"/></object>
        <object type="OSDev" name="mlx5_0" osdev_type="3">
          <info name="Port1State" value="4"/><info name="Port2State" value="1"/></object>
        <object type="OSDev" name="mlx5_4" osdev_type="3"/>
      </object></object></object></object></topology>)";
  const auto machine = read_hwloc_xml(xml);
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->nics.size(), 1u);
  const Nic& nic = machine->nics[0];
  EXPECT_EQ(names_of(nic), "mlx5_0, mlx5_4");
  EXPECT_EQ(ports_of(nic), "mlx5_0 1, mlx5_0 2");
  EXPECT_TRUE(is_active(nic.ports[0]));
  EXPECT_FALSE(is_active(nic.ports[1]));
}

// hwloc 3 counts types as bits: storage and memory are 3, a network with OpenFabrics 48.
TEST(HwlocShapes, KnowTheTypesOfHwloc3) {
  const auto with = [](const char* type) {
    return R"(<topology version="3.0"><object type="Machine" nodeset="0x1">
      <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[80-81]">
      <object type="Bridge" bridge_type="1-1" bridge_pci="0000:[81-81]" pci_busid="0000:80:01.0"
        pci_type="0604 [8086:352a] [0000:0000] 04">
      <object type="PCIDev" pci_busid="0000:81:00.0" pci_type="0c00 [1234:0001] [0000:0000] 00">
      <object type="OSDev" name="one" osdev_type=")" +
           std::string(type) + R"("/></object></object></object></object></topology>)";
  };
  EXPECT_EQ(read_hwloc_xml(with("48"))->nics.size(), 1u);
  EXPECT_EQ(read_hwloc_xml(with("3"))->nics.size(), 0u);
  EXPECT_EQ(read_hwloc_xml(with("16"))->nics.size(), 0u);
}

}  // namespace
}  // namespace gdr::host
