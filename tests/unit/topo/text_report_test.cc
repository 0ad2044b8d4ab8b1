#include "topo/output/text_report.h"

#include <gtest/gtest.h>

#include "host/management.h"
#include "made_up_machine.h"
#include "report_text.h"
#include "text/wrap.h"

namespace gdr::topo {
namespace {

TEST(TextReport, TellsTheBestNicOfEachGpuAndWhy) {
  const std::string text = text_of(test::two_node_machine().report());
  EXPECT_TRUE(has(text, "  GPU0  NIC0  mlx5_0  PIX   good       nearest; NIC1 is at PXB\n"))
      << text;
}

TEST(TextReport, HasEveryNameOfEveryPortSideBySide) {
  const std::string text = text_of(test::two_node_machine().report());
  EXPECT_TRUE(has(text,
                  "NICs\n"
                  "        RDMA name  port  netdev    MAC                PCI address   NUMA"
                  "  card\n"
                  "  NIC0  mlx5_0     1     ibmlx5_0  b8:3f:d2:00:00:01  0000:04:00.0  0   "
                  "  1234:5678\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "  NIC0  32 GT/s x16  1     ACTIVE  400 Gb/sec  InfiniBand  28.39.1002  "
                  "mlx5_core\n"))
      << text;
  EXPECT_TRUE(has(text, "  GPU0  0000:03:00.0  0     NVIDIA H100  32 GT/s x16  nvidia\n")) << text;
}

TEST(TextReport, TellsWhichCardIsWhichInterface) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.nics[0].pci->product = {"ConnectX-7 adapter card", "MCX75310AAS-NEAT", false};
  machine.inventory.nics[1].management = host::kSaysManagement;
  machine.inventory.nics[2].pci->name = "MT2910 Family [ConnectX-7]";
  const std::string text = text_of(machine.report());
  EXPECT_TRUE(has(text, "0000:04:00.0  0     ConnectX-7 adapter card (MCX75310AAS-NEAT)\n"))
      << text;
  EXPECT_TRUE(has(text, "0000:07:00.0  0     1234:5678, management, not for data\n")) << text;
  EXPECT_TRUE(has(text, "0000:08:00.0  0     MT2910 Family [ConnectX-7]\n")) << text;
}

TEST(TextReport, LeavesOutTablesThatASourceCannotFill) {
  test::MadeUpMachine machine = test::two_node_machine();
  for (host::Nic& nic : machine.inventory.nics) {
    nic.name = nic.pci_address;
    nic.driver = nic.firmware = "";
    nic.ports.clear();
    nic.pci->links.clear();
    machine.inventory.pci.find(nic.pci_address)->links.clear();
  }
  const std::string text = text_of(machine.report());
  EXPECT_FALSE(has(text, "NIC links")) << text;
  EXPECT_FALSE(has(text, "RDMA name")) << text;
  EXPECT_TRUE(has(text, "\nNICs\n        PCI address   NUMA  card\n")) << text;
}

TEST(TextReport, ListsSoftwareNicsWithoutALabel) {
  test::MadeUpMachine machine = test::two_node_machine();
  host::Nic rxe;
  rxe.name = "rxe0";
  machine.inventory.nics.push_back(rxe);
  EXPECT_TRUE(has(text_of(machine.report()), "\n  -     rxe0 "));
}

TEST(TextReport, TellsThatAVirtualMachineIsUnreliable) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.virtual_machine = true;
  machine.inventory.virtual_by = "the CPU's hypervisor flag";
  EXPECT_TRUE(text_of(machine.report())
                  .starts_with("UNRELIABLE  virtual machine (the CPU's hypervisor flag): "));
  machine.inventory.flat = true;
  for (const bool tree : {false, true}) {
    const std::string text = text_of(machine.report(), {tree, false});
    EXPECT_TRUE(text.starts_with("UNRELIABLE  flat virtual machine (")) << text;
    EXPECT_EQ(text.find("UNRELIABLE"), text.rfind("UNRELIABLE")) << "said twice: " << text;
    EXPECT_TRUE(has(text, "--nccl-xml FILE")) << text;
    EXPECT_TRUE(has(text, " unknown ")) << text;
  }
}

TEST(TextReport, SaysPlainlyThatThereIsNothingAndWhereItLooked) {
  Result<Report> report =
      make_report({}, {"this machine", true, {"/sys/bus/pci/devices: 3 PCI functions"}}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(text_of(*report),
            "No NVIDIA GPU and no RDMA NIC with a PCI function. Searched:\n"
            "  /sys/bus/pci/devices: 3 PCI functions\n"
            "\n"
            "this machine  0 GPUs  0 NICs\n");
}

TEST(TextReport, ListsWhatWasNotSeen) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.unseen = {"Configuration space beyond its first 64 bytes: run as root."};
  EXPECT_TRUE(has(text_of(machine.report()), "\nNot seen\n  Configuration space beyond "));
}

TEST(TextReport, FitsATerminal) {
  test::MadeUpMachine machine = test::two_node_machine();
  machine.inventory.flat = true;
  machine.inventory.unseen = {std::string(30, 'a') + " " + std::string(60, 'b')};
  for (const bool tree : {false, true}) {
    const std::string text = text_of(machine.report(), {tree, true}, 80);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(text::screen_width(text.substr(at, end - at)), 80u) << text.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(TextReport, LetsNoNameMoveTheCursor) {
  test::MadeUpMachine machine = test::two_node_machine();
  for (auto& gpu : machine.inventory.gpus) gpu.model = "\x1b[2J";
  for (auto& nic : machine.inventory.nics) {
    nic.name = nic.firmware = nic.driver = nic.ports[0].netdev = nic.ports[0].mac =
        nic.ports[0].rate = nic.ports[0].state = "\x1b[2J";
  }
  machine.inventory.product = machine.inventory.numa_nodes[0].processors = "\x1b[2J";
  machine.inventory.unseen = {"\x1b[2J"};
  machine.inventory.pci.find("0000:01:00.0")->name = "\x1b[2J";
  for (const bool tree : {false, true}) {
    EXPECT_FALSE(has(text_of(machine.report(), {tree, true}), "\x1b"));
  }
}

}  // namespace
}  // namespace gdr::topo
