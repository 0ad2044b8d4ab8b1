// Which machines are guests, whatever source shows them.
#include <gtest/gtest.h>

#include <algorithm>

#include "captured_host.h"
#include "described.h"
#include "described_machine.h"
#include "host/best_nic.h"
#include "host/grade.h"
#include "host/platform.h"
#include "host/source/hwloc_xml.h"
#include "host/source/lspci.h"
#include "host/source/nccl_xml.h"

namespace gdr::host {
namespace {

using test::DescribedMachine;

Inventory of(Result<Inventory> machine) {
  EXPECT_TRUE(machine) << machine.error().message;
  return machine ? *std::move(machine) : Inventory();
}
Inventory of_lspci(const std::string& text) { return of(read_lspci({{"a.txt", text}})); }

// Each device below a root port of its own, as KVM's q35 lays it out: nothing is flat.
DescribedMachine guest_machine() {
  DescribedMachine machine;
  machine.gpu("0000:05:00.0", "0000:00:02.0", 0);
  machine.nic("mlx5_0", "0000:06:00.0", "0000:00:03.0", 0);
  return machine;
}

struct Emulated {
  const char* what;
  std::uint16_t vendor, device;
  std::uint32_t class_code;
  const char *maker, *name;
};
constexpr Emulated kEmulated[] = {
    {"q35", 0x8086, 0x29c0, 0x060000, "Intel Corporation",
     "82G33/G31/P35/P31 Express DRAM Controller"},
    {"i440fx", 0x8086, 0x1237, 0x060000, "Intel Corporation", "440FX - 82441FX PMC [Natoma]"},
    {"QEMU", 0x1b36, 0x000c, 0x088000, "Red Hat, Inc.", "QEMU PCIe Root port"},
    {"virtio", 0x1af4, 0x1041, 0x020000, "Red Hat, Inc.", "Virtio 1.0 network device"},
    {"Hyper-V", 0x1414, 0x5353, 0x030000, "Microsoft Corporation", "Hyper-V virtual VGA"},
    {"Xen", 0x5853, 0x0001, 0x088000, "XenSource, Inc.", "Xen Platform Device"},
    {"VMware", 0x15ad, 0x0405, 0x030000, "VMware", "SVGA II Adapter"},
    {"VirtualBox", 0x80ee, 0xbeef, 0x030000, "InnoTek Systemberatung GmbH",
     "VirtualBox Graphics Adapter"},
};

TEST(Guest, IsRecognisedByEmulatedDevicesInEverySource) {
  for (const Emulated& one : kEmulated) {
    DescribedMachine machine = guest_machine();
    machine.add({.address = "0000:00:1f.0",
                 .port = "",
                 .vendor = one.vendor,
                 .device = one.device,
                 .class_code = one.class_code,
                 .maker = one.maker,
                 .name = one.name,
                 .node = 0});
    const std::pair<const char*, Inventory> sources[] = {
        {"hwloc", of(read_hwloc_xml(machine.hwloc()))},
        {"nccl", of(read_nccl_xml(machine.nccl()))},
        {"lspci -nnvvv", of_lspci(machine.lspci_verbose())},
        {"lspci -vvv", of_lspci(machine.lspci_verbose(false))},
        {"lspci -tv", of_lspci(machine.lspci_tree())},
    };
    for (const auto& [source, found] : sources) {
      EXPECT_TRUE(found.virtual_machine) << one.what << " in " << source;
      EXPECT_FALSE(found.virtual_by.empty()) << one.what << " in " << source;
      EXPECT_FALSE(has_reliable_grades(found)) << one.what << " in " << source;
      EXPECT_FALSE(found.flat) << one.what << " in " << source;
    }
  }
}

TEST(Guest, IsNoMachineWithoutAnySign) {
  const DescribedMachine machine = guest_machine();
  for (const Inventory& found :
       {of(read_hwloc_xml(machine.hwloc())), of(read_nccl_xml(machine.nccl())),
        of_lspci(machine.lspci_verbose()), of_lspci(machine.lspci_tree())}) {
    EXPECT_FALSE(found.virtual_machine) << found.virtual_by;
    EXPECT_TRUE(has_reliable_grades(found));
  }
}

// Cards emulate virtio devices for machines without a hypervisor, and old boards had real chip
// sets.
TEST(Guest, IsNoServerWithVirtioFromItsCards) {
  DescribedMachine machine = guest_machine();
  machine.information = {{"DMIProductName", "PowerEdge XE9680"}, {"DMISysVendor", "Dell Inc."}};
  machine.add({.address = "0000:07:00.0",
               .port = "0000:00:04.0",
               .vendor = 0x1af4,
               .device = 0x1041,
               .maker = "Red Hat, Inc.",
               .name = "Virtio 1.0 network device",
               .node = 0});
  EXPECT_FALSE(of(read_hwloc_xml(machine.hwloc())).virtual_machine);
}

TEST(Guest, IsKnownByTheNamesOfProductMakerAndModel) {
  const std::pair<Platform, Guest> cases[] = {
      {{.product = "Standard PC (Q35 + ICH9, 2009)", .vendor = "QEMU"}, Guest::kYes},
      {{.product = "KVM Virtual Machine"}, Guest::kYes},
      {{.product = "Virtual Machine", .vendor = "Microsoft Corporation"}, Guest::kYes},
      {{.product = "VMware20,1", .vendor = "VMware, Inc."}, Guest::kYes},
      {{.product = "HVM domU", .vendor = "Xen"}, Guest::kYes},
      {{.product = "VirtualBox", .vendor = "innotek GmbH"}, Guest::kYes},
      {{.product = "OpenStack Nova", .vendor = "Red Hat"}, Guest::kYes},
      {{.product = "p4d.24xlarge", .vendor = "Amazon EC2"}, Guest::kYes},
      {{.product = "p5.metal", .vendor = "Amazon EC2"}, Guest::kNo},
      {{.product = "Google Compute Engine", .vendor = "Google"}, Guest::kYes},
      {{.product = "Google Compute Engine", .kernel = {Guest::kNo, "no flag"}}, Guest::kNo},
      {{.firmware = "pSeries", .model = "IBM pSeries (emulated by qemu)"}, Guest::kYes},
      {{.firmware = "PowerNV", .model = "8335-GTW"}, Guest::kNo},
      {{.product = "PowerEdge XE9680", .vendor = "Dell Inc."}, Guest::kNo},
      {{.product = "NVIDIA_DGX_Spark", .vendor = "NVIDIA"}, Guest::kNo},
      {{.product = "To Be Filled By O.E.M."}, Guest::kUnknown},
      {{}, Guest::kUnknown},
  };
  for (const auto& [platform, expected] : cases) {
    const GuestSign found = guest_by_platform(platform);
    EXPECT_EQ(found.answer, expected) << platform.product << platform.model << ": " << found.sign;
    EXPECT_EQ(found.sign.empty(), expected == Guest::kUnknown) << platform.product;
  }
}

TEST(Guest, IsKnownByTheFlagOrThePlatformInProcfs) {
  const std::pair<const char*, bool> cases[] = {
      {"flags\t\t: fpu hypervisor lahf_lm\n", true},
      {"flags\t\t: fpu hypervisor\n", true},
      {"flags\t\t: fpu lahf_lm\n", false},
      {"processor\t: 0\nplatform\t: pSeries\nmodel\t\t: IBM,9009-42A\n", true},
      {"processor\t: 0\nplatform\t: PowerNV\nmodel\t\t: 8335-GTW\n", false},
  };
  for (const auto& [text, expected] : cases) {
    test::CapturedHost host;
    host.write("proc/cpuinfo", text);
    EXPECT_EQ(is_virtual_machine(Files(host.root())), expected) << text;
  }
}

// Its processors show the flag as a guest's do, and its kernel knows the hypervisor.
TEST(Guest, IsNotXensFirstDomain) {
  const std::pair<const char*, const char*> signs[] = {
      {"proc/xen/capabilities", "control_d\n"},
      {"sys/hypervisor/properties/features", "00002f05\n"},
  };
  for (const auto& [path, text] : signs) {
    test::CapturedHost host;
    host.write("proc/cpuinfo", "flags\t\t: fpu hypervisor lahf_lm\n");
    host.write("sys/hypervisor/type", "xen\n");
    host.write("sys/hypervisor/properties/features", "00002705\n");
    host.write("proc/xen/capabilities", "\n");
    EXPECT_TRUE(is_virtual_machine(Files(host.root()))) << "another domain, before " << path;
    host.write(path, text);
    EXPECT_FALSE(is_virtual_machine(Files(host.root()))) << path;
  }
}

// AC922: each host bridge is a domain of its own, whose root port is at bus 0. An XML file without
// bridges has the devices right below it.
DescribedMachine power9() {
  DescribedMachine machine;
  machine.nodes = 2;
  machine.information = {{"PlatformName", "PowerNV"}, {"PlatformModel", "8335-GTW"}};
  machine.gpu("0004:04:00.0", "", 0);
  machine.gpu("0035:03:00.0", "", 1);
  machine.nic("mlx5_0", "0003:01:00.0", "", 0);
  machine.nic("mlx5_2", "0033:01:00.0", "", 1);
  return machine;
}

TEST(Guest, IsNoPower9MachineWhoseFileLacksBridges) {
  for (const bool named : {true, false}) {
    DescribedMachine machine = power9();
    if (!named) machine.information.clear();
    const Inventory found = of(read_hwloc_xml(machine.hwloc()));
    EXPECT_FALSE(found.virtual_machine) << found.virtual_by;
    EXPECT_FALSE(found.flat);
    EXPECT_EQ(grade(found, "0004:04:00.0", "0003:01:00.0"), "NODE");
    EXPECT_EQ(grade(found, "0004:04:00.0", "0033:01:00.0"), "SYS");
    const bool said = std::ranges::any_of(found.unseen, [](const std::string& sentence) {
      return sentence.find("the file lacks them") != std::string::npos;
    });
    EXPECT_TRUE(said) << "that bridges are missing";
  }
}

TEST(Guest, HasNoGradeBelowAHostBridgeWithoutItsBridges) {
  const char* xml =
      R"(<topology version="2.0"><object type="Machine" nodeset="0x1">
    <info name="DMIProductName" value="PowerEdge C4140"/>
    <object type="NUMANode" nodeset="0x1" cpuset="0xff"/>
    <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[16-1a]">
      <object type="PCIDev" pci_busid="0000:18:00.0" pci_type="0302 [10de:1db1] [10de:1212] a1"/>
      <object type="PCIDev" pci_busid="0000:1a:00.0" pci_type="0207 [15b3:1017] [15b3:0006] 00"/>
    </object></object></topology>)";
  const Inventory found = of(read_hwloc_xml(xml));
  EXPECT_FALSE(found.flat);
  EXPECT_EQ(grade(found, "0000:18:00.0", "0000:1a:00.0"), "unknown") << "PIX, PXB or PHB";
}

TEST(Guest, IsStillAFlatMachineWithNoNames) {
  DescribedMachine machine;
  machine.gpu("0000:00:05.0", "", 0);
  machine.nic("mlx5_0", "0000:00:06.0", "", 0);
  const Inventory found = of(read_hwloc_xml(machine.hwloc()));
  EXPECT_TRUE(found.flat);
  EXPECT_TRUE(found.virtual_machine);
  EXPECT_EQ(found.virtual_by, "GPUs or NICs directly on a root bus");
}

}  // namespace
}  // namespace gdr::host
