#include "cli/machine_options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scratch_folder.h"

namespace gdr::cli {
namespace {

// What a command line with these words gives; nothing where it is wrong use.
std::optional<MachineOptions> parsed(const std::vector<std::string>& words) {
  CLI::App app("gdr");
  MachineOptions options;
  add_machine_options(app, options);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError&) {
    return std::nullopt;
  }
  return options;
}

TEST(MachineOptions, MeanThisMachineWhereNoneIsGiven) {
  const auto options = parsed({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->root, "/");
  EXPECT_TRUE(options->hwloc_xml.empty() && options->nccl_xml.empty() && options->lspci.empty());
}

TEST(MachineOptions, TakeLspciTwice) {
  const auto options = parsed({"--lspci", "tree.txt", "--lspci", "verbose.txt"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->lspci, (std::vector<std::string>{"tree.txt", "verbose.txt"}));
}

TEST(MachineOptions, RefuseTwoKindsOfDescription) {
  EXPECT_FALSE(parsed({"--root", "/captured", "--lspci", "verbose.txt"}));
  EXPECT_FALSE(parsed({"--hwloc-xml", "a.xml", "--nccl-xml", "b.xml"}));
}

TEST(ReadMachine, NamesTheFolderThatIsNotThere) {
  MachineOptions options;
  options.root = "/no/such/folder";
  const auto inventory = read_machine(options);
  ASSERT_FALSE(inventory);
  EXPECT_EQ(inventory.error().code, EINVAL);
  EXPECT_NE(inventory.error().message.find("/no/such/folder"), std::string::npos);
}

// A captured root with PCI functions of these numbers.
class CapturedRoot : public testing::Test {
 protected:
  CapturedRoot() { options_.root = scratch_.root(); }

  void function(const std::string& vendor, const std::string& device, const std::string& kind) {
    const std::string address = "0000:00:0" + std::to_string(functions_++) + ".0";
    const std::string folder = "sys/devices/pci0000:00/" + address;
    scratch_.write(folder + "/vendor", vendor + "\n");
    scratch_.write(folder + "/device", device + "\n");
    scratch_.write(folder + "/class", kind + "\n");
    scratch_.link("sys/bus/pci/devices/" + address, "../../../devices/pci0000:00/" + address);
  }

  test::ScratchFolder scratch_;

  MachineOptions options_;
  unsigned functions_ = 0;
};

TEST_F(CapturedRoot, EmptyRootIsRefusedInOneLineWithAdvice) {
  const auto inventory = read_machine(options_);
  ASSERT_FALSE(inventory);
  EXPECT_EQ(inventory.error().message,
            options_.root +
                " shows neither GPU nor NIC (0 PCI functions); capture the host itself, not a "
                "container: sudo gdr doctor capture host.tar");
}

TEST_F(CapturedRoot, WithWhatAHypervisorEmulatesAloneIsRefused) {
  function("0x8086", "0x29c0", "0x060000");  // q35's host bridge
  function("0x1234", "0x1111", "0x030000");  // QEMU's standard VGA
  function("0x1af4", "0x1041", "0x020000");  // virtio-net
  function("0x8086", "0x10d3", "0x020000");  // e1000e
  function("0x1a03", "0x2000", "0x030000");  // a board's management
  const auto inventory = read_machine(options_);
  ASSERT_FALSE(inventory);
  EXPECT_NE(inventory.error().message.find("5 PCI functions"), std::string::npos);
}

TEST_F(CapturedRoot, WithAGpuOrNicThatIsNotSupportedIsRead) {
  const struct {
    const char *vendor, *device, *kind;
  } functions[] = {{"0x1002", "0x74a1", "0x120000"},   // AMD Instinct MI300X
                   {"0x8086", "0x0bd5", "0x038000"},   // Intel Data Center GPU Max
                   {"0x17db", "0x0501", "0x020000"},   // HPE Slingshot
                   {"0x14e4", "0x1760", "0x020000"},   // Broadcom Thor2
                   {"0x8086", "0x1592", "0x020000"},   // Intel E810
                   {"0x15b3", "0x1003", "0x0c0600"}};  // an InfiniBand HCA of the older class
  for (const auto& one : functions) {
    std::filesystem::remove_all(std::filesystem::path(options_.root) / "sys");
    function(one.vendor, one.device, one.kind);
    EXPECT_TRUE(read_machine(options_)) << one.vendor << ":" << one.device;
  }
}

TEST_F(CapturedRoot, WithAnRdmaDeviceAloneIsRead) {
  std::filesystem::create_directories(options_.root + "/sys/class/infiniband/rxe0");
  EXPECT_TRUE(read_machine(options_));
}

TEST(ReadMachine, NamesTheFileThatShowsNothing) {
  char name[] = "/tmp/gdr-nccl-XXXXXX";
  const int descriptor = mkstemp(name);
  ASSERT_GE(descriptor, 0);
  close(descriptor);
  std::ofstream(name) << "<system version=\"1\"><cpu numaid=\"0\"></cpu></system>\n";
  MachineOptions options;
  options.nccl_xml = name;
  const auto inventory = read_machine(options);
  std::filesystem::remove(name);
  ASSERT_FALSE(inventory);
  EXPECT_EQ(inventory.error().message.find(name), 0u) << inventory.error().message;
}

TEST(ReadMachine, OfThisMachineIsReadWhateverItHas) { EXPECT_TRUE(read_machine({})); }

}  // namespace
}  // namespace gdr::cli
