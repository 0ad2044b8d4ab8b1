// gdr fix roce: what is usually set on a RoCE port, as commands with what is there now. None is
// carried out: half of these settings lie in switches, which this machine does not see, and a port
// that is lossless alone makes matters worse.
#include <fmt/format.h>

#include "fix/topics/topics.h"

namespace gdr::fix {
namespace {

constexpr const char* kMlx5 = "mlx5_core";

std::string with_value(const std::string& command, const std::string& now) {
  return now.empty() ? command : command + "  # now " + now;
}

void print_commands(const host::Files& files, const host::Nic& nic, const host::Port& port,
                    Proposal& proposal) {
  const std::string number = std::to_string(port.number);
  const std::string device = "sys/class/infiniband/" + nic.name;
  const std::string netdev = "sys/class/net/" + port.netdev;
  auto& commands = proposal.commands;
  commands.push_back(fmt::format("cma_roce_mode -d {} -p {} -m 2  # RoCE v2", nic.name, number));
  if (!port.netdev.empty()) {
    const std::string mtu = files.line(netdev + "/mtu");
    if (files.number(netdev + "/mtu").value_or(9000) < 4200) {
      commands.push_back(with_value(fmt::format("ip link set {} mtu 9000", port.netdev), mtu));
    }
  }
  if (nic.driver != kMlx5 || port.netdev.empty()) return;
  commands.push_back(fmt::format("mlnx_qos -i {} --trust dscp", port.netdev));
  commands.push_back(fmt::format("mlnx_qos -i {} --pfc 0,0,0,1,0,0,0,0", port.netdev));
  const std::string traffic = device + "/tc/" + number + "/traffic_class";
  commands.push_back(with_value(fmt::format("echo 106 > /{}", traffic), files.line(traffic)));
  for (const char* side : {"roce_np", "roce_rp"}) {
    const std::string enable = netdev + "/ecn/" + side + "/enable/3";
    commands.push_back(with_value(fmt::format("echo 1 > /{}", enable), files.line(enable)));
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
    proposal.nothing = "nothing is changed for it; 'gdr fix roce' prints the commands";
  } else {
    proposal.notes.push_back(
        "gdr fix carries none of these out: priority 3, DSCP 26 and traffic class 106 are a common "
        "choice, and the switches must have the same. Ask who runs them first. Each is undone by "
        "the same command with the old value.");
  }
}

}  // namespace gdr::fix
