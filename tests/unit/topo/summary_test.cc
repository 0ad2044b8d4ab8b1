// The first screen of gdr topo: whether it is good, what to do first, and the NIC for each GPU.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "host/management.h"
#include "made_up_machine.h"
#include "report_text.h"
#include "text/wrap.h"
#include "topo/output/json_report.h"
#include "topo/output/text_report.h"

namespace gdr::topo {
namespace {

using test::MadeUpMachine;

std::string first_lines(const std::string& text, std::size_t count) {
  std::istringstream lines(text);
  std::string line, first;
  for (std::size_t i = 0; i < count && std::getline(lines, line); ++i) first += line + "\n";
  return first;
}

// Each GPU below a switch of its own, with as many NICs as there are letters of `nics`.
MadeUpMachine machine_with(int gpus, const std::string& nics) {
  MadeUpMachine machine;
  machine.inventory.numa_nodes = {{0, "0-31", {}}};
  for (int i = 0; i < gpus; ++i) {
    const std::string bus = "0000:" + std::to_string(i + 1);
    const std::string port = "0000:00:0" + std::to_string(i) + ".0", up = bus + "0:00.0";
    machine.bridge(port, "pci0000:00", host::PciKind::kRootPort, 0);
    machine.bridge(up, port, host::PciKind::kUpstream, 0);
    for (std::size_t place = 0; place <= nics.size(); ++place) {
      const std::string number = std::to_string(place);
      const std::string down = bus + "1:0" + number + ".0";
      const std::string address = bus + std::to_string(place + 2) + ":00.0";
      machine.bridge(down, up, host::PciKind::kDownstream, 0);
      if (place == 0) {
        machine.gpu(address, down, 0);
      } else {
        machine.nic("mlx5_" + std::to_string(i) + nics[place - 1], address, down, 0);
      }
    }
  }
  return machine;
}

// One GPU, and one NIC behind another host bridge of the NUMA node `node`.
MadeUpMachine far_machine(int node) {
  MadeUpMachine machine;
  machine.inventory.numa_nodes = {{0, "0-31", {}}, {1, "32-63", {}}};
  machine.bridge("0000:00:01.0", "pci0000:00", host::PciKind::kRootPort, 0);
  machine.gpu("0000:01:00.0", "0000:00:01.0", 0);
  machine.bridge("0000:40:01.0", "pci0000:40", host::PciKind::kRootPort, node);
  machine.nic("mlx5_0", "0000:41:00.0", "0000:40:01.0", node);
  return machine;
}

TEST(FirstScreen, SaysThatEveryGpuHasAGoodNicAndWhatToCheckNext) {
  const std::string text = text_of(machine_with(2, "a").report());
  EXPECT_EQ(first_lines(text, 10),
            "GOOD  all 2 GPUs share a PCIe switch with a NIC: no CPU is on the path\n"
            "  next: checks drivers, limits and settings\n"
            "    gdr doctor\n"
            "\n"
            "captured: test  2 GPUs  2 NICs\n"
            "\n"
            "Best NIC for each GPU\n"
            "        NIC   name     path  GPUDirect  why\n"
            "  GPU0  NIC0  mlx5_0a  PIX   good       nearest; NIC1 is at PHB\n"
            "  GPU1  NIC1  mlx5_1a  PIX   good       nearest; NIC0 is at PHB\n");
}

TEST(FirstScreen, AnswersFirstOnTheLargestMachineToo) {
  const Report report = machine_with(8, "abcd").report();
  const std::string text = first_lines(text_of(report, {}, 80), 24);
  EXPECT_TRUE(text.starts_with("GOOD  all 8 GPUs ")) << text;
  EXPECT_TRUE(has(text, "\n  GPU7  ")) << text;
  EXPECT_TRUE(has(text, "\n  GPU0  NIC0   mlx5_0a  PIX   good       as good as NIC1, NIC2, NIC3\n"))
      << text;
  EXPECT_TRUE(has(text, "\n  of equally good NICs, ")) << text;
  EXPECT_EQ(text.find("  of equally"), text.rfind("  of equally")) << "said once";
}

TEST(FirstScreen, IsTheSameBeforeTheTree) {
  const Report report = machine_with(2, "a").report();
  EXPECT_EQ(first_lines(text_of(report), 10), first_lines(text_of(report, {true, false}), 10));
}

TEST(FirstScreen, NamesTheWorstPathAndTheGpusThatHaveIt) {
  const std::string text = text_of(test::two_node_machine().report());
  EXPECT_EQ(first_lines(text, 6),
            "BAD  1 of 2 GPUs share a PCIe switch with a NIC; GPU1: the nearest is on another NUMA "
            "node (SYS), where GPUDirect RDMA is often slow\n"
            "  now: NCCL does not use GPUDirect RDMA there unless you allow it\n"
            "    export NCCL_NET_GDR_LEVEL=SYS\n"
            "  now: measures whether direct is faster than through host memory\n"
            "    gdr perf\n"
            "  for good: move each NIC to a slot below its GPU's own switch or host bridge\n");
}

TEST(FirstScreen, TellsAnotherHostBridgeFromAnotherNode) {
  const std::string node = text_of(far_machine(0).report()), sys = text_of(far_machine(1).report());
  EXPECT_TRUE(
      node.starts_with("BAD  no GPU shares a PCIe switch with a NIC; the nearest is behind "
                       "another host bridge (NODE), "))
      << node;
  EXPECT_TRUE(has(first_lines(node, 3), "    export NCCL_NET_GDR_LEVEL=PHB\n")) << node;
  EXPECT_TRUE(has(first_lines(sys, 1), "on another NUMA node (SYS)")) << sys;
}

TEST(FirstScreen, CallsAHostBridgeLikelyGoodAndAllowsItToNccl) {
  MadeUpMachine machine;
  for (const char* place : {"1", "2"}) {
    const std::string port = std::string("0000:00:0") + place + ".0";
    machine.bridge(port, "pci0000:00", host::PciKind::kRootPort, 0);
    const std::string address = std::string("0000:0") + place + ":00.0";
    if (place[0] == '1') {
      machine.gpu(address, port, 0);
    } else {
      machine.nic("mlx5_0", address, port, 0);
    }
  }
  machine.inventory.numa_nodes = {{0, "0-31", {}}};
  const std::string text = text_of(machine.report());
  EXPECT_TRUE(
      text.starts_with("LIKELY GOOD  no GPU shares a PCIe switch with a NIC; the nearest is "
                       "below the same host bridge (PHB)\n"))
      << text;
  EXPECT_TRUE(has(first_lines(text, 3), "    export NCCL_NET_GDR_LEVEL=PHB\n")) << text;
  machine.inventory.host_bridges_merged = true;
  EXPECT_TRUE(text_of(machine.report())
                  .starts_with("UNKNOWN  no GPU shares a PCIe switch with a "
                               "NIC; PHB or NODE, "));
}

TEST(FirstScreen, BeginsWithPortsThatAreDown) {
  MadeUpMachine machine = machine_with(2, "a");
  machine.inventory.nics[1].ports[0].state = "1: DOWN";
  const std::string text = text_of(machine.report());
  EXPECT_TRUE(text.starts_with("DOWN  GPU1: all ports of the best NIC are down\n")) << text;
  EXPECT_TRUE(has(first_lines(text, 3), "\n    gdr list\n")) << text;
  machine.inventory.nics[0].ports[0].state = "1: DOWN";
  EXPECT_TRUE(
      text_of(machine.report()).starts_with("DOWN  all ports of each GPU's best NIC are down\n"));
}

TEST(FirstScreen, TellsWhatIsMissing) {
  MadeUpMachine no_nic = machine_with(1, "");
  EXPECT_TRUE(text_of(no_nic.report()).starts_with("NO NIC  no RDMA NIC with a PCI function\n"));
  MadeUpMachine managing = machine_with(1, "a");
  managing.inventory.nics[0].management = host::kSaysManagement;
  EXPECT_TRUE(text_of(managing.report()).starts_with("NO NIC  all NICs are for management\n"));
  MadeUpMachine no_gpu = machine_with(1, "a");
  no_gpu.inventory.gpus.clear();
  EXPECT_TRUE(text_of(no_gpu.report()).starts_with("NO GPU  no NVIDIA GPU\n"));
  no_gpu.inventory.unsupported.resize(1);
  EXPECT_TRUE(text_of(no_gpu.report())
                  .starts_with("NO GPU  no NVIDIA GPU; unsupported devices are listed below\n"));
}

TEST(FirstScreen, ExcludesManagementNicsBeforeAnythingElse) {
  MadeUpMachine machine = machine_with(1, "ab");
  machine.inventory.nics[1].management = host::kSaysManagement;
  const std::string text = text_of(machine.report());
  EXPECT_TRUE(text.starts_with("GOOD  the GPU shares a PCIe switch with a NIC")) << text;
  EXPECT_TRUE(has(first_lines(text, 3), "\n    export NCCL_IB_HCA=^=mlx5_0b\n")) << text;
  machine.inventory.nics[1].name = machine.inventory.nics[1].pci_address;
  EXPECT_FALSE(has(first_lines(text_of(machine.report()), 3), "NCCL_IB_HCA"))
      << "without its RDMA name there is nothing to type";
}

TEST(FirstScreen, TellsHowManyGpusShareANic) {
  MadeUpMachine machine = machine_with(1, "a");
  machine.gpu("0000:13:01.0", "0000:11:01.0", 0);
  EXPECT_TRUE(has(first_lines(text_of(machine.report()), 1), "; all 2 GPUs share one NIC\n"));
}

TEST(FirstScreen, SaysAReasonOnceThatIsTheSameForAll) {
  MadeUpMachine machine = machine_with(1, "a");
  machine.gpu("0000:13:01.0", "0000:11:01.0", 0);
  const std::string text = text_of(machine.report());
  EXPECT_TRUE(has(text, "\n  GPU1  NIC0  mlx5_0a  PIX   good\n  for each: the only NIC\n")) << text;
}

TEST(FirstScreen, BreaksNoCommandInANarrowTerminal) {
  for (const std::string& line :
       {std::string("    export NCCL_NET_GDR_LEVEL=SYS\n"), std::string("    gdr perf\n")}) {
    EXPECT_TRUE(has(text_of(test::two_node_machine().report(), {}, 20), "\n" + line));
  }
}

TEST(FirstScreen, IsInTheDocumentToo) {
  const auto verdict = nlohmann::json::parse(to_json(test::two_node_machine().report()))["verdict"];
  EXPECT_EQ(verdict["word"], "BAD");
  EXPECT_EQ(verdict["quality"], "bad");
  EXPECT_EQ(verdict["steps"][0]["when"], "now");
  EXPECT_EQ(verdict["steps"][0]["command"], "export NCCL_NET_GDR_LEVEL=SYS");
  EXPECT_TRUE(verdict["steps"].back()["command"].is_null());
  const auto nothing = nlohmann::json::parse(to_json(MadeUpMachine().report()))["verdict"];
  EXPECT_TRUE(nothing["word"].is_null());
  EXPECT_TRUE(nothing["steps"].empty());
}

}  // namespace
}  // namespace gdr::topo
