// Which ports gdr fix acs chooses, and when it refuses.
#include "fix/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "fake_host.h"
#include "fix/changes/access_control.h"

namespace gdr::fix {
namespace {

class Plan : public testing::Test {
 protected:
  // The proposal for the chosen topic.
  Proposal plan(const Wishes& wishes) {
    const Machine machine = host_.machine();
    inventory_ = host::take_inventory(host_.root());
    std::vector<Proposal> all = make_plan({machine, inventory_, journal_, wishes});
    EXPECT_EQ(all.size(), 1u);
    return std::move(all.front());
  }
  Proposal acs(Wishes wishes = {}) {
    wishes.topics = {"acs"};
    return plan(wishes);
  }
  static std::vector<std::string> targets(const Proposal& proposal) {
    std::vector<std::string> names;
    for (const Planned& planned : proposal.changes)
      names.push_back(planned.change->record().target);
    return names;
  }
  // The refusals of all changes; each must have one.
  static std::string refusal(const Proposal& proposal) {
    EXPECT_FALSE(proposal.changes.empty());
    for (const Planned& planned : proposal.changes) EXPECT_NE(planned.refusal, "");
    return proposal.changes.empty() ? "" : proposal.changes.front().refusal;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  FakeHost host_;
  host::Inventory inventory_;
  JournalContent journal_;
};

using Ports = std::vector<std::string>;

TEST_F(Plan, ClearsTheDownstreamPortsBetweenGpuAndNicAlone) {
  host_.add_switch();
  const Proposal proposal = acs();
  EXPECT_EQ(targets(proposal), (Ports{"0000:02:00.0", "0000:02:01.0"}));
  EXPECT_FALSE(proposal.is_refused());
  EXPECT_EQ(proposal.changes[0].change->record().old_value, "0x001d");
  EXPECT_EQ(proposal.changes[0].change->record().new_value, "0x0011");
  EXPECT_EQ(proposal.changes[0].change->record().offset, 0x170u);
}

TEST_F(Plan, LeavesPortsAloneThatRedirectNothing) {
  host_.add_switch();
  host_.set_word("0000:02:00.0", 0x176, 0x13);  // source validation and more
  EXPECT_EQ(targets(acs()), Ports{"0000:02:01.0"});
  host_.set_word("0000:02:01.0", 0x174, 0x00);  // set, without the capability
  const Proposal proposal = acs();
  EXPECT_TRUE(proposal.changes.empty());
  EXPECT_TRUE(has(proposal.nothing, "no port between a GPU and a NIC redirects"));
}

TEST_F(Plan, DoesNothingWhereTheWayGoesThroughTheCpu) {
  host_.add({.address = "0000:00:01.0", .parent = "pci0000:00", .type = kRootPort, .acs = 0x220});
  host_.add({.address = "0000:00:02.0", .parent = "pci0000:00", .type = kRootPort, .acs = 0x220});
  host_.add_gpu({.address = "0000:01:00.0", .parent = "0000:00:01.0"});
  host_.add_nic("mlx5_0", {.address = "0000:02:00.0", .parent = "0000:00:02.0"});
  const Proposal proposal = acs();
  EXPECT_TRUE(proposal.changes.empty());
  EXPECT_TRUE(has(proposal.nothing, "shares a PCIe switch")) << proposal.nothing;
}

TEST_F(Plan, SaysThatItTakesRootToSee) {
  host_.add_switch();
  for (const char* port : {"0000:02:00.0", "0000:02:01.0"}) {
    host_.write(host_.configuration_path(port), host_.bytes(port).substr(0, 64));
  }
  const Proposal proposal = acs();
  EXPECT_TRUE(proposal.changes.empty());
  EXPECT_TRUE(proposal.is_refused()) << "unknown is never well";
  ASSERT_FALSE(proposal.refusals.empty());
  EXPECT_TRUE(has(proposal.refusals[0], "root")) << proposal.refusals[0];
}

TEST_F(Plan, RefusesInAVirtualMachineUnlessItsTreeIsEmulated) {
  host_.add_switch();
  host_.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  EXPECT_TRUE(has(refusal(acs()), "virtual machine"));
  Wishes wishes;
  wishes.emulated = true;
  EXPECT_FALSE(acs(wishes).is_refused());
}

TEST_F(Plan, RefusesUnderLockdownAndOffersTheBoot) {
  host_.add_switch();
  host_.write("etc/default/grub.d/README", "");
  for (const char* mode :
       {"none [integrity] confidentiality", "none integrity [confidentiality]"}) {
    host_.write("sys/kernel/security/lockdown", std::string(mode) + "\n");
    EXPECT_TRUE(has(refusal(acs()), "--persist"));
    Wishes wishes;
    wishes.persist = true;
    const Proposal proposal = acs(wishes);
    ASSERT_EQ(proposal.changes.size(), 3u);
    EXPECT_NE(proposal.changes[0].refusal, "");
    EXPECT_EQ(proposal.changes[2].change->record().kind, kTextFile);
    EXPECT_EQ(proposal.changes[2].refusal, "");
  }
}

struct Assigned {
  const char* what;
  const char* driver;
  FakeFunction function;
};

class AssignedDevice : public Plan, public testing::WithParamInterface<Assigned> {};

TEST_P(AssignedDevice, IsAReasonToRefuse) {
  host_.add_switch();
  FakeFunction function = GetParam().function;
  function.driver = GetParam().driver;
  host_.add(function);
  const std::string reason = refusal(acs());
  EXPECT_TRUE(has(reason, GetParam().driver)) << reason;
  EXPECT_TRUE(has(reason, function.address)) << reason;
}
INSTANTIATE_TEST_SUITE_P(
    Devices, AssignedDevice,
    testing::Values(
        Assigned{
            "below the port", "vfio-pci", {.address = "0000:05:00.1", .parent = "0000:02:01.0"}},
        Assigned{
            "beside the port", "vfio-pci", {.address = "0000:07:00.0", .parent = "0000:02:02.0"}},
        Assigned{
            "a vendor's", "mlx5_vfio_pci", {.address = "0000:05:00.2", .parent = "0000:02:01.0"}},
        Assigned{"Xen's", "pciback", {.address = "0000:05:00.2", .parent = "0000:02:01.0"}},
        Assigned{"in the port's group",
                 "vfio-pci",
                 {.address = "0000:09:00.0", .parent = "pci0000:00", .group = 3}},
        Assigned{"in the NIC's group",
                 "vfio-pci",
                 {.address = "0000:09:00.0", .parent = "pci0000:00", .group = 7}}));

TEST_F(Plan, ChangesItsPortsAlthoughAGuestHasADeviceElsewhere) {
  host_.add_switch();
  host_.add({.address = "0000:00:05.0", .parent = "pci0000:00", .type = kRootPort, .group = 20});
  host_.add(
      {.address = "0000:20:00.0", .parent = "0000:00:05.0", .driver = "vfio-pci", .group = 21});
  EXPECT_FALSE(acs().is_refused());
}

TEST_F(Plan, LeavesLayoutsWithRulesOfTheirOwnToRdmaTopo) {
  host_.add_switch();
  for (const auto& [vendor, device, where] : {std::tuple("0x10de", "0x22b1", "0000:00:01.0"),
                                              {"0x10de", "0x2f96", "0000:00:01.0"},
                                              {"0x15b3", "0x197c", "0000:01:00.0"},
                                              {"0x15b3", "0x2100", "0000:06:00.0"}}) {
    const std::string place = std::string("sys/bus/pci/devices/") + where;
    const std::string old_vendor = host_.text(place + "/vendor");
    const std::string old_device = host_.text(place + "/device");
    host_.write(place + "/vendor", vendor);
    host_.write(place + "/device", device);
    EXPECT_TRUE(has(refusal(acs()), "rdma_topo")) << where;
    host_.write(place + "/vendor", old_vendor);
    host_.write(place + "/device", old_device);
    EXPECT_FALSE(acs().is_refused()) << where;
  }
}

TEST_F(Plan, TakesTheNamedPortExactly) {
  host_.add_switch();
  Wishes wishes;
  wishes.ports = {"0000:02:02.0"};
  EXPECT_EQ(targets(acs(wishes)), Ports{"0000:02:02.0"});
  wishes.ports = {"0000:00:01.0"};
  const Proposal root_port = acs(wishes);
  EXPECT_EQ(targets(root_port), Ports{"0000:00:01.0"});
  EXPECT_TRUE(has(root_port.notes.front(), "root port")) << "with a warning";
  for (const char* wrong :
       {"0000:04:00.0", "0000:05:00.0", "0000:01:00.0", "0000:06:00.0", "0000:ff:00.0"}) {
    wishes.ports = {wrong};
    const Proposal refused = acs(wishes);
    EXPECT_TRUE(refused.changes.empty()) << wrong;
    EXPECT_TRUE(refused.is_refused()) << wrong;
  }
}

TEST_F(Plan, NamedPortIsRefusedForTheSameReasons) {
  host_.add_switch();
  host_.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  Wishes wishes;
  wishes.ports = {"0000:00:01.0"};
  EXPECT_TRUE(has(refusal(acs(wishes)), "virtual machine"));
}

// A tree of switches in switches with GPUs, NICs and NVMes, ACS on all that can have it.
struct RandomTree {
  explicit RandomTree(unsigned seed) : random(seed) {}

  unsigned pick(unsigned below) { return static_cast<unsigned>(random() % below); }

  void grow(FakeHost& host, const std::string& bus_owner, unsigned depth) {
    // A root port or downstream port has one device below it: a switch, or an endpoint.
    const unsigned bus = next_bus++;
    const auto address = [&](unsigned on, unsigned device) {
      char text[32];
      snprintf(text, sizeof text, "0000:%02x:%02x.0", on, device);
      return std::string(text);
    };
    const unsigned what = pick(6);
    if (depth > 0 && what >= 2 && next_bus < 200) {
      host.add({.address = address(bus, 0),
                .parent = bus_owner,
                .type = kUpstreamPort,
                .acs = pick(4) == 0 ? 0x1a0u : 0u});
      const unsigned inner = next_bus++;
      const unsigned ports = 1 + pick(4);
      for (unsigned i = 0; i < ports; ++i) {
        const std::string port = address(inner, i);
        host.add({.address = port,
                  .parent = address(bus, 0),
                  .type = kDownstreamPort,
                  .acs = pick(8) == 0 ? 0u : 0x104u + 4 * (pick(900)),
                  .control = pick(3) == 0 ? 0x11u : pick(0x80)});
        grow(host, port, depth - 1);
      }
    } else if (what % 3 == 0) {
      host.add_gpu({.address = address(bus, 0), .parent = bus_owner, .acs = 0x200});
    } else if (what % 3 == 1) {
      host.add_nic("mlx5_" + std::to_string(bus),
                   {.address = address(bus, 0), .parent = bus_owner, .acs = 0x230});
    } else {
      host.add({.address = address(bus, 0),
                .parent = bus_owner,
                .vendor = 0x144d,
                .device = 0xa80a,
                .class_code = 0x010802});
    }
  }

  std::mt19937 random;
  unsigned next_bus = 1;
};

// Written down anew, from nothing but paths: what may be cleared at all.
std::set<std::string> expected_ports(const host::Inventory& inventory) {
  std::set<std::string> ports;
  for (const host::Gpu& gpu : inventory.gpus) {
    for (const host::Nic& nic : inventory.nics) {
      const auto &a = gpu.pci->path, &b = nic.pci->path;
      const auto split = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
      if (split.first - a.begin() < 2) continue;  // they meet above the root ports
      for (const auto& [begin, end] :
           {std::pair(split.first, a.end()), std::pair(split.second, b.end())}) {
        for (auto name = begin; name != end; ++name) {
          const host::PciFunction* function = inventory.pci.find(*name);
          if (function->kind == host::PciKind::kDownstream && function->acs &&
              (function->acs->capabilities & function->acs->control & 0x2c) != 0) {
            ports.insert(*name);
          }
        }
      }
    }
  }
  return ports;
}

TEST(PlanOfRandomTrees, NeverLeavesTheWaysBetweenGpuAndNic) {
  unsigned chosen = 0, left_out = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FakeHost host;
    RandomTree tree(seed);
    for (unsigned port = 1; port <= 3; ++port) {
      const std::string address = "0000:00:0" + std::to_string(port) + ".0";
      host.add({.address = address,
                .parent = "pci0000:00",
                .type = kRootPort,
                .acs = 0x220,
                .control = 0x7f});
      tree.grow(host, address, 3);
    }
    const Machine machine = host.machine();
    const host::Inventory inventory = host::take_inventory(host.root());
    Wishes wishes;
    wishes.topics = {"acs"};
    const JournalContent journal;
    const std::vector<Proposal> plan = make_plan({machine, inventory, journal, wishes});
    EXPECT_FALSE(plan.front().is_refused());
    std::set<std::string> targets;
    for (const Planned& planned : plan.front().changes) {
      targets.insert(planned.change->record().target);
      const host::PciFunction* port = inventory.pci.find(planned.change->record().target);
      ASSERT_NE(port, nullptr);
      EXPECT_EQ(port->kind, host::PciKind::kDownstream) << port->address;
    }
    EXPECT_EQ(targets, expected_ports(inventory));
    chosen += targets.size();
    for (const auto& [address, function] : inventory.pci.functions()) {
      left_out += function.acs && function.acs->redirects() && !targets.contains(address) ? 1 : 0;
    }
  }
  EXPECT_GT(chosen, 20u);
  EXPECT_GT(left_out, 20u);
}

}  // namespace
}  // namespace gdr::fix
