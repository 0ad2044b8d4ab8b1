// gdr fix roce: what is usually set on a RoCE port, as commands with what is there now. None is
// carried out: half of these settings lie in switches, which this machine does not see, and a port
// that is lossless alone makes matters worse.
#include "fix/topics/topics.h"

namespace gdr::fix {
namespace {

using text::Command;

constexpr const char* kMlx5 = "mlx5_core";

std::string now_is(const std::string& value) { return value.empty() ? "" : "now " + value; }

void print_commands(const host::Files& files, const host::Nic& nic, const host::Port& port,
                    Proposal& proposal) {
  const std::string number = std::to_string(port.number);
  const std::string device = "sys/class/infiniband/" + nic.name;
  const std::string netdev = "sys/class/net/" + port.netdev;
  const auto say = [&](const Command& command, std::string note = {}) {
    proposal.say_to_type(command, std::move(note));
  };
  say(Command("sudo cma_roce_mode -d {} -p {} -m 2", nic.name, number), "RoCE v2");
  if (!port.netdev.empty()) {
    const std::string mtu = files.line(netdev + "/mtu");
    if (files.number(netdev + "/mtu").value_or(9000) < 4200) {
      say(Command("sudo ip link set {} mtu 9000", port.netdev), now_is(mtu));
    }
  }
  if (nic.driver != kMlx5 || port.netdev.empty()) return;
  say(Command("sudo mlnx_qos -i {} --trust dscp", port.netdev));
  say(Command("sudo mlnx_qos -i {} --pfc 0,0,0,1,0,0,0,0", port.netdev));
  const std::string traffic = device + "/tc/" + number + "/traffic_class";
  const auto write = [&](int value, const std::string& file) {
    say(Command("echo {} | sudo tee /{}", value, file), now_is(files.line(file)));
  };
  write(106, traffic);
  for (const char* side : {"roce_np", "roce_rp"}) {
    write(1, netdev + "/ecn/" + side + "/enable/3");
  }
}

}  // namespace

void plan_roce(const Situation& situation, Proposal& proposal) {
  unsigned ports = 0;
  const bool asked_for = situation.wishes.named(proposal.topic);
  for (const host::Nic& nic : situation.inventory.nics) {
    if (!nic.pci) continue;
    for (const host::Port& port : nic.ports) {
      if (port.link_layer != "Ethernet") continue;
      ++ports;
      if (asked_for) print_commands(situation.machine.files, nic, port, proposal);
    }
  }
  if (ports == 0) {
    proposal.nothing = "no RoCE port";
  } else if (!asked_for) {
    proposal.nothing = "gdr changes nothing here; 'gdr fix roce' prints the commands";
  } else {
    proposal.notes.push_back(
        "gdr fix does not run these commands. Priority 3, DSCP 26 and traffic class 106 are a "
        "common choice; the switches must use the same, so ask their administrator first. To undo "
        "a command, repeat it with the old value.");
  }
}

}  // namespace gdr::fix
