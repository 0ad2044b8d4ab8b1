// Machines in the forms in which programs show them: each gives what its own documents say.
#include <sstream>

#include "captured_host.h"
#include "described.h"
#include "host/access_control.h"
#include "host/grade.h"
#include "host/nccl_grade.h"
#include "host/pci/link.h"
#include "host/source/source.h"
#include "machines.h"

namespace gdr::host {
namespace {

class Captured : public ::testing::Test {
 protected:
  Inventory read(const Source& source) const {
    auto machine = read_inventory(source);
    EXPECT_TRUE(machine) << machine.error().message;
    return machine ? *std::move(machine) : Inventory();
  }
  Inventory read_hwloc(const std::string& name) const {
    Source source;
    source.hwloc_xml = test::machine_file(name);
    return read(source);
  }
  Inventory read_nccl(const std::string& name) const {
    Source source;
    source.nccl_xml = test::machine_file(name);
    return read(source);
  }
  Inventory read_lspci(const std::vector<std::string>& names) const {
    Source source;
    for (const std::string& name : names) source.lspci.push_back(test::machine_file(name));
    return read(source);
  }
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST_F(Captured, AsusHasEveryCellOfItsOwnMatrix) {
  const Inventory machine =
      read_lspci({"asus-esc8000a-e12.lspci-tv.txt", "asus-esc8000a-e12.lspci-vvv.txt"});
  ASSERT_EQ(machine.gpus.size(), 4u);
  ASSERT_EQ(machine.nics.size(), 4u);
  std::vector<std::string> devices;
  for (const Gpu& gpu : machine.gpus) devices.push_back(gpu.pci_address);
  for (const Nic& nic : machine.nics) devices.push_back(nic.pci_address);
  std::istringstream matrix(test::text_of_file(test::machine_file("asus-esc8000a-e12.topo-m.txt")));
  std::string line;
  std::getline(matrix, line);
  for (const std::string& row : devices) {
    std::getline(matrix, line);
    const auto cells = words_of(line);
    ASSERT_GT(cells.size(), devices.size());
    for (std::size_t column = 0; column < devices.size(); ++column) {
      if (cells[column + 1] == "X") continue;
      EXPECT_EQ(grade(machine, row, devices[column]), cells[column + 1])
          << row << " and " << devices[column];
    }
  }
  EXPECT_FALSE(machine.flat);
  EXPECT_EQ(machine.gpus[0].model, "AD102GL [RTX 6000 Ada Generation]");
  EXPECT_EQ(machine.gpus[0].driver, "nvidia");
}

TEST_F(Captured, AsusHasNoGradesInItsVerboseTextAlone) {
  const Inventory machine = read_lspci({"asus-esc8000a-e12.lspci-vvv.txt"});
  ASSERT_EQ(machine.gpus.size(), 4u);
  EXPECT_FALSE(machine.flat) << "that no bridge is shown says nothing";
  EXPECT_EQ(grade(machine, "0000:01:00.0", "0000:21:00.0"), "unknown");
  EXPECT_EQ(nccl_grade(machine.pci, "0000:01:00.0", "0000:21:00.0"), "unknown");
}

TEST_F(Captured, AsusHasItsTreeInTheTreeTextAlone) {
  const Inventory machine = read_lspci({"asus-esc8000a-e12.lspci-tv.txt"});
  ASSERT_EQ(machine.gpus.size(), 4u);
  ASSERT_EQ(machine.nics.size(), 4u);
  EXPECT_EQ(machine.gpus[0].pci->path,
            (std::vector<std::string>{"pci0000:00", "0000:00:01.1", "0000:01:00.0"}));
  EXPECT_EQ(machine.pci.find("0000:68:00.0")->path.size(), 7u) << "a cascade of switches";
  EXPECT_EQ(grade(machine, "0000:65:00.0", "0000:66:00.0"), "PIX");
  EXPECT_EQ(grade(machine, "0000:65:00.0", "0000:6b:00.0"), "PXB");
}

class CapturedHgxText : public Captured {
 protected:
  static constexpr const char* kName = "hgx-h100-dell.lspci-vvv.txt";
  static constexpr const char* kPairs[][2] = {{"19", "1a"}, {"3b", "3c"}, {"4c", "4d"},
                                              {"5d", "5e"}, {"9b", "9c"}, {"bb", "bc"},
                                              {"cb", "cc"}, {"db", "dc"}};
};

TEST_F(CapturedHgxText, HasEachGpuBesideItsOwnNic) {
  const Inventory machine = read_lspci({kName});
  ASSERT_EQ(machine.gpus.size(), 8u);
  ASSERT_EQ(machine.nics.size(), 12u);
  for (const auto& gpu : kPairs) {
    for (const auto& nic : kPairs) {
      const std::string a = "0000:" + std::string(gpu[0]) + ":00.0";
      const std::string b = "0000:" + std::string(nic[1]) + ":00.0";
      EXPECT_EQ(grade(machine, a, b) == "PIX", &gpu[0] == &nic[0]) << a << " " << b;
      EXPECT_EQ(nccl_grade(machine.pci, a, b) == "PIX", &gpu[0] == &nic[0]) << a << " " << b;
    }
  }
  EXPECT_EQ(grade(machine, "0000:19:00.0", "0000:1b:00.0"), "PIX");
  EXPECT_EQ(grade(machine, "0000:9b:00.0", "0000:9d:00.1"), "PIX");
  EXPECT_EQ(machine.pci.find("0000:98:00.0")->kind, PciKind::kUpstream);
  EXPECT_EQ(machine.pci.find("0000:99:01.0")->kind, PciKind::kDownstream);
  EXPECT_TRUE(machine.pci.find("0000:82:00.0")->acs->redirects());
  EXPECT_EQ(machine.pci.find("0000:99:00.0")->acs->offset, 0x170);
  EXPECT_EQ(machine.gpus[0].pci->resizable_bars.size(), 1u);
}

// Both are read by code of their own: what one of them misses, the other tells.
TEST_F(Captured, HgxHasTheSameOfEachFunctionInSysfsAndInLspci) {
  const Inventory files = take_inventory(test::machine_file("hgx-h100-dell.root"));
  const Inventory text = read_lspci({"hgx-h100-dell.lspci-nnvvv.txt"});
  ASSERT_EQ(files.pci.functions().size(), text.pci.functions().size());
  std::size_t with_acs = 0, with_links = 0;
  for (const auto& [address, one] : files.pci.functions()) {
    SCOPED_TRACE(address);
    const PciFunction* other = text.pci.find(address);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(one.path, other->path);
    EXPECT_EQ(one.vendor, other->vendor);
    EXPECT_EQ(one.device, other->device);
    EXPECT_EQ(one.subsystem_vendor, other->subsystem_vendor);
    EXPECT_EQ(one.subsystem_device, other->subsystem_device);
    EXPECT_EQ(one.class_code >> 8, other->class_code >> 8);
    EXPECT_EQ(one.numa_node, other->numa_node);
    EXPECT_EQ(one.driver, other->driver);
    EXPECT_EQ(one.kind, other->kind);
    EXPECT_EQ(one.configuration_read, other->configuration_read);
    EXPECT_EQ(one.device_control_offset, other->device_control_offset);
    EXPECT_EQ(one.max_payload, other->max_payload);
    EXPECT_EQ(one.max_read_request, other->max_read_request);
    EXPECT_EQ(one.relaxed_ordering, other->relaxed_ordering);
    ASSERT_EQ(one.acs.has_value(), other->acs.has_value());
    if (one.acs) {
      EXPECT_EQ(one.acs->offset, other->acs->offset);
      EXPECT_EQ(one.acs->capabilities, other->acs->capabilities);
      EXPECT_EQ(one.acs->control, other->acs->control);
      ++with_acs;
    }
    ASSERT_EQ(one.resizable_bars.size(), other->resizable_bars.size());
    for (std::size_t i = 0; i < one.resizable_bars.size(); ++i) {
      EXPECT_EQ(one.resizable_bars[i].number, other->resizable_bars[i].number);
      EXPECT_EQ(one.resizable_bars[i].size, other->resizable_bars[i].size);
      EXPECT_EQ(one.resizable_bars[i].most, other->resizable_bars[i].most);
    }
    ASSERT_EQ(one.links.size(), other->links.size());
    for (std::size_t i = 0; i < one.links.size(); ++i) {
      EXPECT_EQ(text_of(one.links[i]), text_of(other->links[i]));
      ++with_links;
    }
  }
  EXPECT_GT(with_acs, 50u);
  EXPECT_GT(with_links, 100u);
}

TEST_F(CapturedHgxText, IsClearOnEveryPathAlthoughADriveSwitchRedirects) {
  const Inventory machine = read_lspci({kName});
  std::size_t deciding = 0;
  for (const Gpu& gpu : machine.gpus) {
    for (const Nic& nic : machine.nics) {
      const auto ports = ports_between(machine.pci, *gpu.pci, *nic.pci);
      EXPECT_EQ(judge_path(ports), PortJudgement::kClear)
          << gpu.pci_address << " " << nic.pci_address;
      for (const PortOnPath& port : ports) deciding += port.decides ? 1 : 0;
    }
  }
  EXPECT_EQ(deciding, 2u * 12) << "two ports for each GPU with a NIC on its switch: 8 and 4 pairs";
}

TEST_F(CapturedHgxText, FindsExactlyThePortThatRedirects) {
  std::string text = test::text_of_file(test::machine_file(kName));
  const auto port = text.find("\n99:01.0 ");
  ASSERT_NE(port, std::string::npos);
  const auto control = text.find("ACSCtl:", port);
  const std::string off = "ReqRedir- CmpltRedir-";
  text.replace(text.find(off, control), off.size(), "ReqRedir+ CmpltRedir+");
  test::CapturedHost scratch;
  scratch.write("lspci.txt", text);
  Source source;
  source.lspci = {scratch.root() + "/lspci.txt"};
  const Inventory machine = read(source);
  for (const Gpu& gpu : machine.gpus) {
    for (const Nic& nic : machine.nics) {
      const bool beside = gpu.pci_address == "0000:9b:00.0" &&
                          grade(machine, gpu.pci_address, nic.pci_address) == "PIX";
      const auto ports = ports_between(machine.pci, *gpu.pci, *nic.pci);
      EXPECT_EQ(judge_path(ports), beside ? PortJudgement::kRedirects : PortJudgement::kClear)
          << gpu.pci_address << " " << nic.pci_address;
      for (const PortOnPath& each : ports) {
        EXPECT_EQ(each.judgement == PortJudgement::kRedirects, each.address == "0000:99:01.0")
            << each.address;
      }
    }
  }
}

TEST_F(Captured, P5HasFourNicsBesideEachGpu) {
  const Inventory machine = read_hwloc("aws-p5.48xl.hwloc.xml");
  ASSERT_EQ(machine.gpus.size(), 8u);
  ASSERT_EQ(machine.nics.size(), 32u);
  for (const Gpu& gpu : machine.gpus) {
    std::size_t beside = 0;
    for (const Nic& nic : machine.nics) {
      const std::string found = grade(machine, gpu.pci_address, nic.pci_address);
      beside += found == "PIX" ? 1 : 0;
      EXPECT_NE(found, "unknown");
      EXPECT_EQ(nccl_grade(machine.pci, gpu.pci_address, nic.pci_address) == "PIX", found == "PIX");
    }
    EXPECT_EQ(beside, 4u) << gpu.pci_address;
  }
  EXPECT_FALSE(machine.flat);
  EXPECT_EQ(machine.gpus[0].model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(machine.nics[0].name, "rdmap79s0");
  ASSERT_EQ(machine.numa_nodes.size(), 2u);
  EXPECT_EQ(machine.numa_nodes[0].processors, "0-47");
}

// Seen through hwloc each NIC of a p4d is a host bridge away from the GPUs of its own bus.
TEST_F(Captured, P4dIsFlatInTheEyesOfHwlocAndNearInThoseOfItsProvider) {
  const Inventory flat = read_hwloc("aws-p4d.24xl.hwloc.xml");
  const Inventory true_one = read_nccl("aws-p4d.24xl.nccl.xml");
  EXPECT_TRUE(flat.flat);
  EXPECT_TRUE(flat.virtual_machine);
  EXPECT_FALSE(true_one.flat);
  ASSERT_EQ(flat.gpus.size(), 8u);
  ASSERT_EQ(flat.nics.size(), 4u);
  ASSERT_EQ(true_one.gpus.size(), 8u);
  ASSERT_EQ(true_one.nics.size(), 4u);
  for (const Gpu& gpu : flat.gpus) {
    for (const Nic& nic : flat.nics) {
      const bool same_bus = gpu.pci_address.substr(0, 7) == nic.pci_address.substr(0, 7);
      const std::string found = grade(flat, gpu.pci_address, nic.pci_address);
      EXPECT_NE(found, "PIX");
      EXPECT_EQ(found == "PHB", same_bus) << gpu.pci_address << " " << nic.pci_address;
      EXPECT_EQ(grade(true_one, gpu.pci_address, nic.pci_address) == "PIX", same_bus);
      EXPECT_EQ(nccl_grade(true_one.pci, gpu.pci_address, nic.pci_address) == "PIX", same_bus);
    }
  }
  EXPECT_EQ(nccl_grade(flat.pci, "0000:10:1c.0", "0000:10:1b.0"), "PHB");
}

TEST_F(Captured, AzureHasTwoGpusAndTwoNicsInEachGroup) {
  const Inventory machine = read_nccl("azure-ndv4.nccl.xml");
  ASSERT_EQ(machine.gpus.size(), 8u);
  ASSERT_EQ(machine.nics.size(), 8u);
  for (const Gpu& gpu : machine.gpus) {
    std::size_t gpus = 0, nics = 0;
    for (const Gpu& other : machine.gpus) {
      gpus += grade(machine, gpu.pci_address, other.pci_address) == "PIX" ? 1 : 0;
    }
    for (const Nic& nic : machine.nics) {
      nics += grade(machine, gpu.pci_address, nic.pci_address) == "PIX" ? 1 : 0;
    }
    EXPECT_EQ(gpus, 2u) << "itself and one other";
    EXPECT_EQ(nics, 2u);
  }
  EXPECT_EQ(grade(machine, "0003:00:00.0", "0101:00:00.0"), "SYS");
  EXPECT_EQ(machine.pci.find("0003:00:00.0")->links.at(0).most_width, 16u);
}

TEST_F(Captured, G5HasOneNicForAllItsGpus) {
  const Inventory machine = read_hwloc("aws-g5.48xl.hwloc.xml");
  EXPECT_EQ(machine.gpus.size(), 8u);
  EXPECT_EQ(machine.nics.size(), 1u);
  EXPECT_TRUE(machine.flat);
}

}  // namespace
}  // namespace gdr::host
