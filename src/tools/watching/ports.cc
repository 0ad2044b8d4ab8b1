#include "watching/ports.h"

#include "ports/attributes.h"
#include "ports/port_folder.h"

namespace gdr::watching {
namespace {

constexpr std::uint64_t kWord = 4;  // port_xmit_data counts words of four bytes

}  // namespace

PortCounts read_ports(const std::string& root, const host::Inventory& machine) {
  PortCounts counts;
  for (const host::Nic& nic : machine.nics) {
    for (const host::Port& port : nic.ports) {
      const std::string name = port.rdma_name.empty() ? nic.name : port.rdma_name;
      for (const host::Counter& one : host::read_counters(root, name, port.number)) {
        if (one.name == "port_xmit_data") {
          counts[name].out += kWord * static_cast<std::uint64_t>(one.value);
        } else if (one.name == "port_rcv_data") {
          counts[name].in += kWord * static_cast<std::uint64_t>(one.value);
        }
      }
    }
  }
  return counts;
}

PortCounts read_software_ports() {
  PortCounts counts;
  const Result<std::string> account = ports::account_folder();
  if (!account) return counts;
  for (const ports::NamedPort& port : ports::read_ports(ports::port_folder(*account))) {
    PortBytes& sum = counts[port.name];
    sum.out += kWord * ports::find_attribute("counters", "port_xmit_data")->value(port.values);
    sum.in += kWord * ports::find_attribute("counters", "port_rcv_data")->value(port.values);
  }
  return counts;
}

PortCounts difference(const PortCounts& before, const PortCounts& after, bool is_new_at_zero) {
  PortCounts moved;
  for (const auto& [name, now] : after) {
    const auto then = before.find(name);
    if (then == before.end()) {
      if (is_new_at_zero) moved[name] = now;
      continue;
    }
    // A counter that was reset has not gone backwards.
    const auto since = [](std::uint64_t was, std::uint64_t is) {
      return is >= was ? is - was : is;
    };
    moved[name] = {since(then->second.out, now.out), since(then->second.in, now.in)};
  }
  return moved;
}

}  // namespace gdr::watching
