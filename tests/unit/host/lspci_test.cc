// Text of lspci: of a small machine of our own, and wrong ones.
#include "host/source/lspci.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "described.h"

namespace gdr::host {
namespace {

// A switch with a GPU and a NIC, as `lspci -vvv` prints it for root.
constexpr const char* kVerbose =
    R"(00:01.0 PCI bridge: Intel Corporation Device 352a (rev 04) (prog-if 00 [Normal decode])
	Control: I/O+ Mem+ BusMaster+
	NUMA node: 0
	Bus: primary=00, secondary=01, subordinate=04, sec-latency=0
	Capabilities: [40] Express (v2) Root Port (Slot-), MSI 00
		DevCtl:	CorrErr+
			RlxdOrd- ExtTag-
			MaxPayload 256 bytes, MaxReadReq 128 bytes
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 32GT/s (ok), Width x16 (ok)
	Capabilities: [100 v1] Advanced Error Reporting

01:00.0 PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0)
	Control: I/O+ Mem+ BusMaster+
	Bus: primary=01, secondary=02, subordinate=04, sec-latency=0
	Capabilities: [68] Express (v2) Upstream Port, MSI 00
		DevCtl:	CorrErr+
	Capabilities: [b0] Subsystem: Broadcom / LSI Device [1000:1001]

02:00.0 PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0)
	Control: I/O+ Mem+ BusMaster+
	Bus: primary=02, secondary=03, subordinate=03, sec-latency=0
	Capabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00
		DevCtl:	CorrErr+
		LnkCap:	Port #1, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 32GT/s (ok), Width x16 (ok)
	Capabilities: [170 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-

02:01.0 PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0)
	Control: I/O+ Mem+ BusMaster+
	Bus: primary=02, secondary=04, subordinate=04, sec-latency=0
	Capabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00
		DevCtl:	CorrErr+
	Capabilities: [170 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+
		ACSCtl:	SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-

03:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)
	Subsystem: NVIDIA Corporation Device [10de:16c1]
	Control: I/O- Mem+ BusMaster+
	NUMA node: 0
	IOMMU group: 17
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		DevCtl:	CorrErr+
			RlxdOrd+ ExtTag+
			MaxPayload 256 bytes, MaxReadReq 4096 bytes
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 16GT/s (downgraded), Width x8 (downgraded)
	Capabilities: [134 v1] Physical Resizable BAR
		BAR 2: current size: 128GB, supported: 64MB 128MB 64GB 128GB
	Capabilities: [2f0 v1] Address Translation Service (ATS)
		ATSCap:	Invalidate Queue Depth: 00
		ATSCtl:	Enable+, Smallest Translation Unit: 00
	Kernel driver in use: nvidia

04:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]
	Control: I/O- Mem+ BusMaster+
	NUMA node: 0
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		DevCtl:	CorrErr+
	Kernel driver in use: mlx5_core

04:00.1 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]
	Control: I/O- Mem+ BusMaster+
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		DevCtl:	CorrErr+
)";

constexpr const char* kTree =
    R"(-[0000:00]-+-00.0  Intel Corporation Device 09a2
           \-01.0-[01-04]----00.0-[02-04]--+-00.0-[03]----00.0  NVIDIA Corporation Device 2330
                                           \-01.0-[04]--+-00.0  Mellanox Technologies MT2910 Family [ConnectX-7]
                                                        \-00.1  Mellanox Technologies MT2910 Family [ConnectX-7]
)";

Result<Inventory> lspci(const std::string& text, const std::string& other = {}) {
  std::vector<NamedText> texts{{"a.txt", text}};
  if (!other.empty()) texts.push_back({"b.txt", other});
  return read_lspci(texts);
}

TEST(LspciVerbose, HasAllOfAFunction) {
  const auto machine = lspci(kVerbose);
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->gpus.size(), 1u);
  const PciFunction& gpu = *machine->gpus[0].pci;
  EXPECT_EQ(machine->gpus[0].model, "GH100 [H100 SXM5 80GB]");
  EXPECT_EQ(gpu.path.size(), 5u);
  EXPECT_EQ(gpu.vendor, 0x10de);
  EXPECT_EQ(gpu.device, 0x2330);
  EXPECT_EQ(gpu.subsystem_device, 0x16c1);
  EXPECT_EQ(gpu.class_code, 0x030200u);
  EXPECT_EQ(gpu.driver, "nvidia");
  EXPECT_EQ(gpu.iommu_group, 17);
  EXPECT_EQ(gpu.kind, PciKind::kEndpoint);
  EXPECT_EQ(gpu.device_control_offset, 0x68);
  EXPECT_EQ(gpu.max_read_request, 4096u);
  EXPECT_EQ(gpu.relaxed_ordering, true);
  EXPECT_TRUE(gpu.configuration_read);
  ASSERT_TRUE(gpu.ats);
  EXPECT_TRUE(gpu.ats->enabled);
  EXPECT_EQ(gpu.ats->offset, 0x2f0);
  ASSERT_EQ(gpu.resizable_bars.size(), 1u);
  EXPECT_EQ(gpu.resizable_bars[0].most, std::uint64_t{128} << 30);
  ASSERT_EQ(gpu.links.size(), 2u);
  EXPECT_EQ(gpu.links[0].speed, 16);
  EXPECT_EQ(gpu.links[0].most_speed, 32);
  EXPECT_EQ(gpu.links[0].width, 8u);
  EXPECT_EQ(gpu.links[1].above, "0000:00:01.0");
  const PciFunction& port = *machine->pci.find("0000:02:00.0");
  ASSERT_TRUE(port.acs);
  EXPECT_EQ(port.acs->offset, 0x170);
  EXPECT_EQ(port.acs->control, 0x1d);
  EXPECT_EQ(machine->pci.find("0000:01:00.0")->subsystem_device, 0x1001);
}

TEST(LspciVerbose, GivesASecondPortTheNodeOfTheFirst) {
  const auto machine = lspci(kVerbose);
  ASSERT_TRUE(machine && machine->nics.size() == 2);
  EXPECT_EQ(machine->nics[1].numa_node, 0);
  EXPECT_EQ(machine->nics[1].pci->numa_node, 0);
}

TEST(LspciVerbose, OfAUserLeavesConfigurationUnknown) {
  std::string text = kVerbose;
  for (std::size_t at = text.find("\tCapabilities: ["); at != std::string::npos;
       at = text.find("\tCapabilities: [", at)) {
    const std::size_t end = std::min(text.find("\n\tKernel", at), text.find("\n\n", at));
    text.replace(at, std::min(end, text.size()) - at, "\tCapabilities: <access denied>");
  }
  const auto machine = lspci(text);
  ASSERT_TRUE(machine) << machine.error().message;
  for (const auto& [address, function] : machine->pci.functions()) {
    EXPECT_FALSE(function.configuration_read) << address;
  }
  EXPECT_NE(machine->unseen[0].find("root"), std::string::npos);
  EXPECT_EQ(grade(*machine, "0000:03:00.0", "0000:04:00.0"), "PIX");
}

TEST(LspciVerbose, LeavesAcsUnknownWithoutExtendedConfigSpace) {
  std::string text = kVerbose;
  text.resize(text.find("02:00.0"));
  text.erase(text.find("\tCapabilities: [100 v1]"), 47);
  const auto machine = lspci(text);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_FALSE(machine->pci.find("0000:00:01.0")->configuration_read);
}

TEST(LspciVerbose, HidesNothingOfAMachineOfConventionalPciAlone) {
  const auto machine = lspci(
      "00:00.0 Host bridge: Intel Corporation Device 0d57\n\tControl: I/O-\n"
      "00:03.0 Ethernet controller: Red Hat, Inc. Virtio 1.0 network device\n\tControl: I/O-\n"
      "\tCapabilities: [40] Vendor Specific Information: VirtIO: CommonCfg\n");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_TRUE(machine->pci.find("0000:00:03.0")->configuration_read);
  for (const std::string& sentence : machine->unseen) {
    EXPECT_EQ(sentence.find("root"), std::string::npos) << sentence;
  }
}

TEST(LspciVerbose, SaysThatNumbersAreMissingOfACascadeOfBroadcomSwitches) {
  const auto says_so = [](const std::string& tree) {
    const auto machine = lspci(tree);
    EXPECT_TRUE(machine);
    const auto& unseen = machine->unseen;
    return std::any_of(unseen.begin(), unseen.end(), [](const std::string& sentence) {
      return sentence.find("-nnvvv") != std::string::npos;
    });
  };
  const auto port = [](const std::string& address, const std::string& bus) {
    return address + " PCI bridge: Broadcom / LSI PEX880xx PCIe Gen 4 Switch\n\tControl: I/O-\n" +
           "\tBus: primary=00, secondary=" + bus + ", subordinate=ff\n";
  };
  const std::string root =
      "00:01.0 PCI bridge: Intel Corporation Device 352a\n\tControl: I/O-\n"
      "\tBus: primary=00, secondary=01, subordinate=ff\n";
  const std::string one = root + port("01:00.0", "02") + port("02:00.0", "03");
  EXPECT_FALSE(says_so(one));
  EXPECT_TRUE(says_so(one + port("03:00.0", "04") + port("04:00.0", "05")));
}

TEST(LspciTree, HasThePathsAndWhatNamesSay) {
  const auto machine = lspci(kTree);
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->gpus.size(), 1u);
  ASSERT_EQ(machine->nics.size(), 2u);
  EXPECT_EQ(machine->gpus[0].pci->path,
            (std::vector<std::string>{"pci0000:00", "0000:00:01.0", "0000:01:00.0", "0000:02:00.0",
                                      "0000:03:00.0"}));
  EXPECT_EQ(grade(*machine, "0000:03:00.0", "0000:04:00.1"), "PIX");
  EXPECT_FALSE(machine->flat);
}

TEST(LspciTree, AndVerboseTextAreOneMachineInAnyOrder) {
  for (const bool tree_first : {true, false}) {
    const auto machine = tree_first ? lspci(kTree, kVerbose) : lspci(kVerbose, kTree);
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ(machine->nics.size(), 2u);
    EXPECT_EQ(machine->gpus.size(), 1u);
    EXPECT_TRUE(machine->pci.find("0000:02:00.0")->acs);
    EXPECT_TRUE(machine->pci.find("0000:00:00.0")) << "in the tree alone";
  }
}

TEST(LspciTree, HasSeveralRootBusesAndDomains) {
  const auto machine = lspci(
      "-+-[10000:e0]---06.0-[e1]----00.0  Samsung Electronics Co Ltd NVMe\n"
      " +-[0000:80]---01.0-[81]----00.0  NVIDIA Corporation GA100 [A100 PCIe 80GB]\n"
      " \\-[0000:00]-+-00.0  Intel Corporation Device 09a2\n"
      "             \\-02.0-[01]--\n");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->pci.functions().size(), 6u);
  EXPECT_EQ(machine->pci.find("10000:e1:00.0")->path,
            (std::vector<std::string>{"pci10000:e0", "10000:e0:06.0", "10000:e1:00.0"}));
  EXPECT_EQ(machine->gpus.size(), 1u);
}

TEST(Lspci, SaysWhatIsWrongWithATextAndWhatToTypeNext) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "a.txt: not text of"},
      {"hello\n", "a.txt: not text of lspci -vvv or lspci -tv"},
      {"03:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n", "give the text of"},
      {" \\-00.0  x\n-[0000:00]---00.0  x\n", "line 1: a branch"},
      {"-[0000:00]---00.0  x\n  \\-00.0  y\n", "line 2: a branch"},
      {"-[0000:00]-+-01.0-[01]--+-00.0  x\n           \\-02.0  y\n"
       "                        \\-00.1  z\n",
       "line 3: a branch"},
      {"-[0000:00]---zz.0  x\n", "line 1: no address"},
      {"-[zzzz:00]---00.0  x\n", "line 1: no bus"},
      {"-[0000:00]---01.0-[0", "without its bus"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of(lspci(text));
    EXPECT_NE(error.find(expected), std::string::npos) << text << ": " << error;
  }
  EXPECT_NE(error_of(lspci(kTree, kTree)).find("b.txt: a second text of lspci -tv"),
            std::string::npos);
}

TEST(Lspci, FindsBridgesThatRunInCircles) {
  const char* circle =
      "00:00.0 Host bridge: Intel Corporation Device 09a2\n\tControl: I/O-\n"
      "01:00.0 PCI bridge: Intel Corporation Device 1\n\tControl: I/O-\n"
      "\tBus: primary=01, secondary=02, subordinate=02, sec-latency=0\n"
      "02:00.0 PCI bridge: Intel Corporation Device 1\n\tControl: I/O-\n"
      "\tBus: primary=02, secondary=01, subordinate=01, sec-latency=0\n";
  EXPECT_NE(error_of(lspci(circle)).find("form a circle"), std::string::npos);
}

TEST(Lspci, TakesNumbersThatNoMachineHasForUnknown) {
  const auto machine = lspci(
      "03:00.0 3D controller: NVIDIA Corporation Device 2330\n\tControl: I/O-\n"
      "\tNUMA node: 99999999999999999999\n\tIOMMU group: -5\n"
      "\tCapabilities: [fffffffff] Express (v2) Endpoint\n"
      "\t\tLnkCap:\tPort #0, Speed 1e300GT/s, Width x4000000000\n"
      "\t\tLnkSta:\tSpeed nan, Width x0\n\t\tMaxPayload 99999999999 bytes, MaxReadReq x\n");
  ASSERT_TRUE(machine) << machine.error().message;
  const PciFunction& gpu = *machine->gpus.at(0).pci;
  EXPECT_EQ(gpu.numa_node, -1);
  EXPECT_EQ(gpu.iommu_group, -1);
  EXPECT_FALSE(gpu.max_payload || gpu.max_read_request);
}

// pci.ids has no name for most NVSwitches, and the tree shows no class.
TEST(LspciTree, TakesNoNvSwitchForAGpu) {
  for (const char* device : {"1ac1", "1ae8", "1af1", "22a3"}) {
    const auto machine = lspci(
        "-[0000:00]-+-01.0-[01]----00.0  NVIDIA Corporation Device 2330\n"
        "           +-02.0-[02]----00.0  NVIDIA Corporation Device " +
        std::string(device) +
        "\n"
        "           \\-03.0-[03]----00.0  Mellanox Technologies MT2910 "
        "Family [ConnectX-7]\n");
    ASSERT_TRUE(machine) << machine.error().message;
    ASSERT_EQ(machine->gpus.size(), 1u) << device;
    EXPECT_EQ(machine->gpus[0].pci_address, "0000:01:00.0") << device;
    EXPECT_EQ(machine->pci.find("0000:02:00.0")->class_code, 0x068000u) << device;
  }
}

}  // namespace
}  // namespace gdr::host
