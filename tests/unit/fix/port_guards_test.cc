// Which ports gdr fix acs may touch is guarded more than once: when the plan is made of the tree,
// when the port's own registers are read, and when they are written. Behind another guard one that
// is missing is not noticed, so here each stands alone: what the others look at says yes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fake_host.h"
#include "fix/changes/access_control.h"
#include "fix/plan.h"
#include "host/grade.h"
#include "host/source/source.h"
#include "machines.h"

namespace gdr::fix {
namespace {

constexpr unsigned kExpressFlags = 0x62;  // where FakeHost has them
constexpr const char* kGpu = "0000:04:00.0";
constexpr const char* kGpuPort = "0000:02:00.0";
constexpr const char* kNicPort = "0000:02:01.0";

using PortSet = std::set<std::string>;

class PortGuard : public testing::Test {
 protected:
  void SetUp() override {
    host_.add_switch();
    inventory_ = host::take_inventory(host_.root());
  }
  // What the tree says of a function, whatever its registers say.
  host::PciFunction& in_tree(const std::string& address) { return *inventory_.pci.find(address); }
  // What the registers say, whatever the tree says.
  void set_type(const std::string& address, Type type) {
    host_.set_word(address, kExpressFlags, 2 | type << 4);
  }
  void plan() {
    Wishes wishes;
    wishes.topics = {"acs"};
    chosen_.clear();
    refusals_.clear();
    for (const Proposal& proposal : make_plan({machine_, inventory_, journal_, wishes})) {
      for (const Planned& planned : proposal.changes) {
        chosen_.insert(planned.change->record().target);
        refusals_ += planned.refusal;
      }
      for (const std::string& refusal : proposal.refusals) refusals_ += refusal + "\n";
    }
  }
  bool refused(const std::string& words) const {
    return refusals_.find(words) != std::string::npos;
  }

  FakeHost host_;
  Machine machine_ = host_.machine();
  host::Inventory inventory_;
  JournalContent journal_;
  PortSet chosen_;
  std::string refusals_;
};

TEST_F(PortGuard, PlanChoosesBothPortsOfAHealthyPath) {
  plan();
  EXPECT_EQ(chosen_, (PortSet{kGpuPort, kNicPort}));
  EXPECT_EQ(refusals_, "");
}

// The plan's own guards: whatever the registers say, the port is not even looked at.

TEST_F(PortGuard, OfThePlanLeavesOutARootPortOnThePath) {
  in_tree(kGpuPort).kind = host::PciKind::kRootPort;
  plan();
  EXPECT_EQ(chosen_, PortSet{kNicPort});
  EXPECT_EQ(refusals_, "");
}

TEST_F(PortGuard, PlanLeavesOutUpstreamPortsAndEndpointsOnThePath) {
  for (const auto kind :
       {host::PciKind::kUpstream, host::PciKind::kEndpoint, host::PciKind::kBridge}) {
    in_tree(kGpuPort).kind = kind;
    plan();
    EXPECT_EQ(chosen_, PortSet{kNicPort});
    EXPECT_EQ(refusals_, "");
  }
}

TEST_F(PortGuard, OfThePlanLeavesOutTheDevicesThemselves) {
  in_tree(kGpu).kind = host::PciKind::kDownstream;
  inventory_.gpus[0].pci->kind = host::PciKind::kDownstream;
  set_type(kGpu, kDownstreamPort);
  ASSERT_TRUE(read_access_control_port(machine_, kGpu)) << "its registers would let it be chosen";
  plan();
  EXPECT_EQ(chosen_, (PortSet{kGpuPort, kNicPort}));
  EXPECT_EQ(refusals_, "");
}

TEST_F(PortGuard, OfThePlanLeavesOutWhatIsOffThePath) {
  const char* const elsewhere = "0000:02:02.0";  // with an NVMe drive below
  ASSERT_TRUE(in_tree(elsewhere).acs->redirects());
  ASSERT_TRUE(read_access_control_port(machine_, elsewhere));
  plan();
  EXPECT_FALSE(chosen_.contains(elsewhere));
  EXPECT_EQ(refusals_, "");
}

TEST_F(PortGuard, PlanLeavesOutPortsAboveTheMeetingPoint) {
  // The same switch once more, below a port of another one.
  host_.add({.address = "0000:00:03.0", .parent = "pci0000:00", .type = kRootPort, .acs = 0x220});
  host_.add({.address = "0000:21:00.0", .parent = "0000:00:03.0", .type = kUpstreamPort});
  host_.add(
      {.address = "0000:22:00.0", .parent = "0000:21:00.0", .type = kDownstreamPort, .acs = 0x170});
  host_.add({.address = "0000:23:00.0", .parent = "0000:22:00.0", .type = kUpstreamPort});
  for (const char* port : {"0000:24:00.0", "0000:24:01.0"}) {
    host_.add({.address = port, .parent = "0000:23:00.0", .type = kDownstreamPort, .acs = 0x170});
  }
  host_.add_gpu({.address = "0000:25:00.0", .parent = "0000:24:00.0"});
  host_.add_nic("mlx5_1", {.address = "0000:26:00.0", .parent = "0000:24:01.0"});
  inventory_ = host::take_inventory(host_.root());
  plan();
  EXPECT_EQ(chosen_, (PortSet{kGpuPort, kNicPort, "0000:24:00.0", "0000:24:01.0"}));
}

// Two functions with the address of one card that do not share a root port: no sysfs has this, a
// captured one may. The way goes through the CPU, and none of its ports decides anything.
TEST_F(PortGuard, PlanLeavesOutPortsIfThePathsMeetInTheCpu) {
  host::Nic& nic = inventory_.nics[0];
  nic.pci->address = "0000:04:00.1";
  nic.pci->path = {"pci0000:00", "0000:00:02.0", "0000:07:00.0", "0000:08:00.0", "0000:04:00.1"};
  ASSERT_EQ(path_between(inventory_.pci, *inventory_.gpus[0].pci, *nic.pci), host::PciPath::kPix);
  plan();
  EXPECT_EQ(chosen_, PortSet());
  EXPECT_EQ(refusals_, "");
}

TEST_F(PortGuard, PlanLeavesOutPortsThatRedirectNothing) {
  in_tree(kGpuPort).acs->control = 0x13;
  plan();
  EXPECT_EQ(chosen_, PortSet{kNicPort}) << "although its registers have redirects set";
  EXPECT_EQ(refusals_, "");
}

TEST_F(PortGuard, PlanLeavesOutPortsWithoutTheCapability) {
  in_tree(kGpuPort).acs.reset();
  plan();
  EXPECT_EQ(chosen_, PortSet{kNicPort});
  EXPECT_EQ(refusals_, "");
}

// The guards at the port's registers, which may be others than when the tree was read.

TEST_F(PortGuard, OfTheRegistersRefusesARootPort) {
  set_type(kGpuPort, kRootPort);
  plan();
  EXPECT_EQ(chosen_, PortSet{kNicPort});
  EXPECT_TRUE(refused("0000:02:00.0 is a root port; name it with --port")) << refusals_;
}

TEST_F(PortGuard, RegistersRefuseEndpointsAndUpstreamPorts) {
  for (const Type type : {kEndpoint, kUpstreamPort}) {
    set_type(kGpuPort, type);
    plan();
    EXPECT_EQ(chosen_, PortSet{kNicPort});
    EXPECT_TRUE(refused("neither a root port nor a downstream port")) << refusals_;
  }
}

TEST_F(PortGuard, RegistersRefuseAPortWithoutTheCapability) {
  host_.set_word(kGpuPort, 0x102, 1);  // the list of extended capabilities ends before it
  plan();
  EXPECT_EQ(chosen_, PortSet{kNicPort});
  EXPECT_TRUE(refused("0000:02:00.0 has no Access Control Services capability")) << refusals_;
}

// The guards at writing: the change was made of a port as it was.

class WriteGuard : public PortGuard {
 protected:
  void SetUp() override {
    PortGuard::SetUp();
    const auto port = read_access_control_port(machine_, kGpuPort);
    ASSERT_TRUE(port);
    Result<ChangePtr> made = change_of(without_redirects(*port));
    ASSERT_TRUE(made);
    change_ = *std::move(made);
  }
  bool writes() {
    const auto before = host_.all_bytes();
    const bool written = static_cast<bool>(change_->write(machine_, change_->record().new_value));
    EXPECT_EQ(host_.all_bytes() == before, !written);
    return written;
  }
  ChangePtr change_;
};

TEST_F(WriteGuard, LetsTheRecordedPortPass) { EXPECT_TRUE(writes()); }

TEST_F(WriteGuard, StopsAtAnEndpoint) {
  set_type(kGpuPort, kEndpoint);
  EXPECT_FALSE(writes());
}

TEST_F(WriteGuard, StopsWhereTheCapabilityIsGone) {
  host_.set_word(kGpuPort, 0x102, 1);
  EXPECT_FALSE(writes());
}

TEST_F(WriteGuard, StopsWhereTheCapabilityIsElsewhere) {
  // The same function, whose capability firmware has moved: what was there is another register.
  host_.set_word(kGpuPort, 0x102, 0x300 << 4 | 1);
  host_.set_word(kGpuPort, 0x300, 0x000d);
  host_.set_word(kGpuPort, 0x302, 1);
  EXPECT_FALSE(writes());
}

// A real machine's tree, on which every port and device that has ACS redirects all.
TEST(CapturedHgx, ListsAllPortsToClearWhenAllRedirect) {
  host::Source source;
  source.lspci = {test::machine_file("hgx-h100-dell.lspci-vvv.txt")};
  const Result<host::Inventory> captured = host::read_inventory(source);
  ASSERT_TRUE(captured) << captured.error().message;
  FakeHost host;
  std::vector<const host::PciFunction*> functions;
  for (const auto& [address, function] : captured->pci.functions()) functions.push_back(&function);
  std::stable_sort(functions.begin(), functions.end(),
                   [](const auto* a, const auto* b) { return a->path.size() < b->path.size(); });
  unsigned with_access_control = 0;
  for (const host::PciFunction* function : functions) {
    FakeFunction made{.address = function->address,
                      .parent = function->path[function->path.size() - 2],
                      .vendor = function->vendor,
                      .device = function->device,
                      .class_code = function->class_code};
    constexpr Type kTypes[] = {kEndpoint,     kEndpoint,       kRootPort,
                               kUpstreamPort, kDownstreamPort, kEndpoint};
    made.type = kTypes[static_cast<unsigned>(function->kind)];
    if (function->acs) made.acs = 0x170, made.control = 0x7f, ++with_access_control;
    host.add(made);
  }
  for (const host::Nic& nic : captured->nics) {
    std::filesystem::create_directories(host.root() + "/sys/class/infiniband/" + nic.name);
    std::filesystem::create_directory_symlink(
        "/sys/bus/pci/devices/" + nic.pci_address,
        host.root() + "/sys/class/infiniband/" + nic.name + "/device");
  }
  const Machine machine = host.machine();
  const host::Inventory inventory = host::take_inventory(host.root());
  ASSERT_EQ(inventory.gpus.size(), 8u);
  Wishes wishes;
  wishes.topics = {"acs"};
  const JournalContent journal;
  const std::vector<Proposal> plan = make_plan({machine, inventory, journal, wishes});
  PortSet chosen, expected;
  for (const Planned& planned : plan.front().changes) {
    chosen.insert(planned.change->record().target);
  }
  // The port right above a device, wherever a GPU and a NIC are below the same switch.
  for (const host::Gpu& gpu : inventory.gpus) {
    for (const host::Nic& nic : inventory.nics) {
      const auto &a = gpu.pci->path, &b = nic.pci->path;
      if (a.size() != b.size() || !std::equal(a.begin(), a.end() - 2, b.begin())) continue;
      if (a.size() < 4) continue;  // below root ports
      expected.insert({a[a.size() - 2], b[b.size() - 2]});
    }
  }
  EXPECT_EQ(chosen, expected);
  EXPECT_GE(chosen.size(), 16u);
  EXPECT_GT(with_access_control, chosen.size() + 20) << "most of what has ACS is left alone";
  EXPECT_FALSE(chosen.contains("0000:00:0c.0")) << "a root port";
  EXPECT_TRUE(plan.front().refusals.empty());
}

}  // namespace
}  // namespace gdr::fix
