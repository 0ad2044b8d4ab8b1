#include "captured_host.h"
#include "host/grade.h"
#include "host/inventory.h"
#include "host/pci/link.h"
#include "machines.h"

namespace gdr::host {
namespace {

using test::CapturedHost;

std::optional<PciFunction> function(const std::string& root, const std::string& address) {
  return read_pci_function(Files(root), "sys/bus/pci/devices/" + address);
}

std::optional<PciFunction> function(const CapturedHost& host, const std::string& address) {
  return function(host.root(), address);
}

std::string grade(const std::string& root, const std::string& a, const std::string& b) {
  const auto one = function(root, a), other = function(root, b);
  if (!one || !other) return "absent";
  const auto path = path_between(one->path, one->numa_node, other->path, other->numa_node);
  return path ? name_of(*path) : "unknown";
}

std::string grade(const CapturedHost& host, const std::string& a, const std::string& b) {
  return grade(host.root(), a, b);
}

// A switch with two devices below 00:01.0, a cascade below 00:02.0, another root port, another host
// bridge of the same node and one of the other node.
void lay_out(CapturedHost& host) {
  host.bridge("0000:00:01.0", "pci0000:00");
  host.bridge("0000:01:00.0", "0000:00:01.0");
  host.bridge("0000:02:00.0", "0000:01:00.0");
  host.bridge("0000:02:01.0", "0000:01:00.0");
  host.function({"0000:03:00.0", "0000:02:00.0", "16.0", "16.0", 16, 16, 0});
  host.function({"0000:04:00.0", "0000:02:01.0", "16.0", "32.0", 8, 16, 0, 256, 512, false});
  host.bridge("0000:02:02.0", "0000:01:00.0");
  host.bridge("0000:05:00.0", "0000:02:02.0");
  host.bridge("0000:06:00.0", "0000:05:00.0");
  host.function({"0000:07:00.0", "0000:06:00.0", "8.0", "8.0", 8, 8, 0});
  host.bridge("0000:00:02.0", "pci0000:00");
  host.function({"0000:08:00.0", "0000:00:02.0", "8.0", "8.0", 8, 8, 0});
  host.bridge("0000:20:01.0", "pci0000:20");
  host.function({"0000:21:00.0", "0000:20:01.0", "8.0", "8.0", 8, 8, 0});
  host.bridge("0000:80:01.0", "pci0000:80");
  host.function({"0000:81:00.0", "0000:80:01.0", "8.0", "8.0", 8, 8, 1});
}

TEST(PciPath, HasTheGradeOfWhatItRunsThrough) {
  CapturedHost host;
  lay_out(host);
  EXPECT_EQ(grade(host, "0000:03:00.0", "0000:04:00.0"), "PIX");
  EXPECT_EQ(grade(host, "0000:03:00.0", "0000:07:00.0"), "PXB");
  EXPECT_EQ(grade(host, "0000:03:00.0", "0000:08:00.0"), "PHB");
  EXPECT_EQ(grade(host, "0000:03:00.0", "0000:21:00.0"), "NODE");
  EXPECT_EQ(grade(host, "0000:03:00.0", "0000:81:00.0"), "SYS");
}

TEST(PciPath, IsUnknownIfPathsDoNotBeginAtHostBridges) {
  EXPECT_FALSE(path_between({}, 0, {"pci0000:00", "0000:00:01.0"}, 0));
  EXPECT_FALSE(path_between({"0000:03:00.0"}, 0, {"pci0000:00", "0000:00:01.0"}, 0));
}

TEST(PciFunction, HasALinkForEachPairOfPortsOnItsWayAndNoneInsideOfSwitches) {
  CapturedHost host;
  lay_out(host);
  const auto found = function(host, "0000:07:00.0");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->path.size(), 7u);
  EXPECT_EQ(found->path.front(), "pci0000:00");
  ASSERT_EQ(found->links.size(), 3u);
  EXPECT_EQ(found->links[0].above, "0000:06:00.0");
  EXPECT_EQ(found->links[1].below, "0000:05:00.0");
  EXPECT_EQ(found->links[2].above, "0000:00:01.0");
}

TEST(PciFunction, KnowsWhatItsLinkRunsAtAndWhatBothEndsCouldDo) {
  CapturedHost host;
  host.function({"0000:00:01.0", "pci0000:00", "16.0", "16.0", 8, 16});
  host.function({"0000:01:00.0", "0000:00:01.0", "16.0", "32.0", 8, 16, 1});
  const auto found = function(host, "0000:01:00.0");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->links.size(), 1u);
  EXPECT_EQ(found->links[0].speed, 16);
  EXPECT_EQ(found->links[0].most_speed, 16) << "the port above can do no more";
  EXPECT_EQ(found->links[0].width, 8u);
  EXPECT_EQ(found->links[0].most_width, 16u);
  EXPECT_EQ(found->numa_node, 1);
}

TEST(PciFunction, TakesNoLinkThatAVirtualMachineInvents) {
  CapturedHost host;
  host.bridge("0000:00:01.0", "pci0000:00");
  host.function({"0000:01:00.0", "0000:00:01.0", "Unknown", "Unknown", 0, 255});
  const auto found = function(host, "0000:01:00.0");
  ASSERT_TRUE(found && found->links.size() == 1);
  EXPECT_EQ(found->links[0].speed, 0);
  EXPECT_EQ(found->links[0].width, 0u);
  EXPECT_EQ(found->links[0].most_width, 0u);
}

TEST(PciFunction, ReadsItsSettingsFromTheConfigurationSpace) {
  CapturedHost host;
  host.bridge("0000:00:01.0", "pci0000:00");
  host.function({"0000:01:00.0", "0000:00:01.0", "16", "16", 16, 16, 0, 256, 4096, true});
  host.function({"0000:01:00.1", "0000:00:01.0", "16", "16", 16, 16, 0, 512, 512, false});
  const auto first = function(host, "0000:01:00.0"), second = function(host, "0000:01:00.1");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->max_payload, 256u);
  EXPECT_EQ(first->max_read_request, 4096u);
  EXPECT_EQ(first->relaxed_ordering, true);
  EXPECT_EQ(second->max_payload, 512u);
  EXPECT_EQ(second->max_read_request, 512u);
  EXPECT_EQ(second->relaxed_ordering, false);
}

TEST(PciFunction, KnowsNoSettingsOfAConfigurationSpaceCutShortOrRunningInCircles) {
  const std::string whole = CapturedHost::config({"", "", "", "", 0, 0, 0, 256, 512, true});
  // 64 bytes: what is shown without root. 100: the capability begins, and its settings are cut off.
  for (const std::string& config :
       {whole.substr(0, 64), whole.substr(0, 100), std::string(256, '\x40')}) {
    CapturedHost host;
    host.bridge("0000:00:01.0", "pci0000:00");
    host.function({"0000:01:00.0", "0000:00:01.0", "16", "16", 16, 16});
    host.write("sys/bus/pci/devices/0000:01:00.0/config", config);
    const auto found = function(host, "0000:01:00.0");
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->max_payload || found->relaxed_ordering);
  }
}

TEST(PciFunction, IsNotSoughtOutsideOfTheRoot) {
  CapturedHost host;
  CapturedHost other;
  other.bridge("0000:00:01.0", "pci0000:00");
  other.function({"0000:01:00.0", "0000:00:01.0", "16", "16", 16, 16});
  std::filesystem::create_directories(host.root() + "/sys/bus/pci/devices");
  std::filesystem::create_directory_symlink(other.root() + "/sys/bus/pci/devices/0000:01:00.0",
                                            host.root() + "/sys/bus/pci/devices/0000:01:00.0");
  EXPECT_FALSE(function(host, "0000:01:00.0"));
  std::filesystem::create_directory_symlink("b", host.root() + "/a");
  std::filesystem::create_directory_symlink("a", host.root() + "/b");
  EXPECT_TRUE(Files(host.root()).real_path("a").empty());
}

TEST(PciFunction, BelongsToTheNicsAndGpusOfTheInventory) {
  CapturedHost host;
  lay_out(host);
  host.nic("mlx5_0", "0000:04:00.0");
  host.write("sys/class/infiniband/rxe0/fw_ver", "\n");
  host.write("sys/bus/pci/devices/0000:03:00.0/vendor", "0x10de\n");
  host.write("sys/bus/pci/devices/0000:03:00.0/class", "0x030200\n");
  const Inventory inventory = take_inventory(host.root());
  ASSERT_EQ(inventory.nics.size(), 2u);
  ASSERT_TRUE(inventory.nics[0].pci);
  EXPECT_EQ(inventory.nics[0].pci->max_read_request, 512u);
  EXPECT_FALSE(inventory.nics[1].pci) << "rxe has no PCI function";
  ASSERT_EQ(inventory.gpus.size(), 1u);
  ASSERT_TRUE(inventory.gpus[0].pci);
  EXPECT_EQ(inventory.gpus[0].pci->links[0].width, 16u);
}

TEST(PciLink, ShowsItsMaximumOnlyIfThatIsHigher) {
  EXPECT_EQ(text_of({"", "", 32, 32, 16, 16}), "32 GT/s x16");
  EXPECT_EQ(text_of({"", "", 2.5, 32, 8, 16}), "2.5 of 32 GT/s x8 of x16");
  EXPECT_EQ(text_of({"", "", 0, 32, 8, 8}), "x8");
  EXPECT_EQ(text_of({"", "", 16, 0, 0, 16}), "16 GT/s");
  EXPECT_EQ(text_of({}), "");
}

TEST(VirtualMachine, IsKnownByItsProcessorsFlags) {
  CapturedHost host;
  host.write("proc/cpuinfo", "flags\t\t: fpu vme sse2\n");
  EXPECT_FALSE(is_virtual_machine(Files(host.root())));
  host.write("proc/cpuinfo", "flags\t\t: fpu vme sse2 hypervisor lahf_lm\n");
  EXPECT_TRUE(is_virtual_machine(Files(host.root())));
}

// The machine's own `nvidia-smi topo -m` has NODE and SYS between GPUs and NICs, and PIX between
// the two ports of a card.
TEST(CapturedAsus, HasThePathsThatItsOwnDriverSaw) {
  const std::string host = test::machine_file("asus-esc8000a-e12.root");
  EXPECT_EQ(grade(host, "0000:01:00.0", "0000:41:00.0"), "NODE");
  EXPECT_EQ(grade(host, "0000:01:00.0", "0000:c1:00.0"), "SYS");
  EXPECT_EQ(grade(host, "0000:01:00.0", "0000:21:00.0"), "NODE");
  EXPECT_EQ(grade(host, "0000:41:00.0", "0000:21:00.0"), "NODE");
  EXPECT_EQ(grade(host, "0000:01:00.0", "0000:81:00.0"), "SYS");
  EXPECT_EQ(grade(host, "0000:c1:00.0", "0000:21:00.0"), "SYS");
  EXPECT_EQ(grade(host, "0000:c1:00.0", "0000:81:00.0"), "NODE");
  EXPECT_EQ(grade(host, "0000:e1:00.0", "0000:81:00.0"), "NODE");
  const auto idle = function(host, "0000:01:00.0");
  ASSERT_TRUE(idle && idle->links.size() == 1);
  EXPECT_EQ(idle->links[0].speed, 2.5) << "an idle GPU";
  EXPECT_EQ(idle->links[0].most_speed, 16);
  EXPECT_EQ(function(host, "0000:21:00.0")->max_payload, 512u);
}

TEST(CapturedHgx, HasEachGpuBesideItsOwnNic) {
  const std::string host = test::machine_file("hgx-h100-dell.root");
  const std::string gpus[] = {"19", "3b", "4c", "5d", "9b", "bb", "cb", "db"};
  const std::string nics[] = {"1a", "3c", "4d", "5e", "9c", "bc", "cc", "dc"};
  for (const std::string& gpu : gpus) {
    for (const std::string& nic : nics) {
      const bool beside = std::stoi(nic, nullptr, 16) == std::stoi(gpu, nullptr, 16) + 1;
      const std::string found = grade(host, "0000:" + gpu + ":00.0", "0000:" + nic + ":00.0");
      EXPECT_EQ(found == "PIX", beside) << gpu << " and " << nic << ": " << found;
    }
  }
  EXPECT_EQ(grade(host, "0000:19:00.0", "0000:1b:00.0"), "PIX");
  EXPECT_EQ(grade(host, "0000:9b:00.0", "0000:9d:00.1"), "PIX");
  EXPECT_EQ(grade(host, "0000:19:00.0", "0000:9c:00.0"), "SYS");
  const auto nic = function(host, "0000:1a:00.0");
  ASSERT_TRUE(nic && !nic->links.empty());
  EXPECT_EQ(nic->links[0].speed, 32);
  EXPECT_EQ(nic->links[0].most_width, 16u);
  EXPECT_EQ(nic->max_read_request, 4096u);
  EXPECT_EQ(nic->relaxed_ordering, true);
}

}  // namespace
}  // namespace gdr::host
