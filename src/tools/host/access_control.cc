#include "host/access_control.h"

#include <algorithm>

namespace gdr::host {
namespace {

struct NamedBit {
  std::uint16_t bit;
  const char* name;
};
constexpr NamedBit kBits[] = {{AccessControl::kSourceValidation, "source validation"},
                              {AccessControl::kTranslationBlocking, "translation blocking"},
                              {AccessControl::kRequestRedirect, "request redirect"},
                              {AccessControl::kCompletionRedirect, "completion redirect"},
                              {AccessControl::kUpstreamForwarding, "upstream forwarding"},
                              {AccessControl::kEgressControl, "egress control"},
                              {AccessControl::kDirectTranslated, "direct translated"}};

// A bridge whose kind cannot be read is known by its place: from a device upwards, each other one
// faces downwards, and the topmost is a root port.
PciKind kind_at(const PciFunction* port, std::size_t index, std::size_t path_size) {
  if (port != nullptr && port->kind != PciKind::kUnknown) return port->kind;
  if (index == 1) return PciKind::kRootPort;
  return (path_size - 1 - index) % 2 == 1 ? PciKind::kDownstream : PciKind::kUpstream;
}

// The ports of one leg, from the device up to below `meeting`, the length of the common path.
std::vector<PortOnPath> ports_of_leg(const PciTree& tree, const std::vector<std::string>& path,
                                     std::size_t meeting) {
  std::vector<PortOnPath> ports;
  for (std::size_t i = path.size() - 1; i-- > meeting;) {
    const PciFunction* function = tree.find(path[i]);
    const PciKind kind = kind_at(function, i, path.size());
    if (kind != PciKind::kDownstream && kind != PciKind::kRootPort) continue;
    PortOnPath port;
    port.address = path[i];
    port.is_root_port = kind == PciKind::kRootPort;
    port.decides = meeting > 1;
    if (function != nullptr) {
      port.judgement = judge_port(*function);
      if (function->acs) {
        port.redirects = function->acs->effective() & AccessControl::kRedirects;
      }
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

}  // namespace

PortJudgement judge_port(const PciFunction& port) {
  if (port.acs) return port.acs->redirects() ? PortJudgement::kRedirects : PortJudgement::kClear;
  return port.configuration_read ? PortJudgement::kClear : PortJudgement::kUnknown;
}

std::vector<PortOnPath> ports_between(const PciTree& tree, const PciFunction& gpu,
                                      const PciFunction& nic) {
  for (const PciFunction* one : {&gpu, &nic}) {
    if (one->path.size() < 2 || !is_host_bridge(one->path[0])) return {};
  }
  std::size_t meeting = 0;
  while (meeting < std::min(gpu.path.size(), nic.path.size()) &&
         gpu.path[meeting] == nic.path[meeting]) {
    ++meeting;
  }
  std::vector<PortOnPath> ports = ports_of_leg(tree, gpu.path, meeting);
  std::vector<PortOnPath> down = ports_of_leg(tree, nic.path, meeting);
  ports.insert(ports.end(), down.rbegin(), down.rend());
  return ports;
}

PortJudgement judge_path(const std::vector<PortOnPath>& ports) {
  PortJudgement worst = PortJudgement::kClear;
  for (const PortOnPath& port : ports) {
    if (!port.decides || port.judgement == PortJudgement::kClear) continue;
    if (worst != PortJudgement::kRedirects) worst = port.judgement;
  }
  return worst;
}

std::string names_of_access_control(std::uint16_t bits) {
  std::string names;
  for (const NamedBit& named : kBits) {
    if ((bits & named.bit) == 0) continue;
    if (!names.empty()) names += ", ";
    names += named.name;
  }
  return names;
}

}  // namespace gdr::host
