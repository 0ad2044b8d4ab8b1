// A description of a machine in any bytes: nothing is read outside it, and it is either one line of
// error or an inventory in which every way has an end, and every grade and port can be asked for.
//
// Input: a byte that says of which format the rest is; for lspci two texts may come, a zero between
// them.
#include <cstdlib>

#include "host/access_control.h"
#include "host/grade.h"
#include "host/nccl_grade.h"
#include "host/pci/config_space.h"
#include "host/pci/names.h"
#include "host/source/draft.h"
#include "host/source/hwloc_xml.h"
#include "host/source/lspci.h"
#include "host/source/nccl_xml.h"
#include "input.h"

namespace gdr::host {

// Not a part of this: the names of pci.ids, which to load takes longer than all else.
PciNames::PciNames() = default;
std::string PciNames::vendor(std::uint16_t /*vendor*/) { return {}; }
std::string PciNames::device(std::uint16_t vendor, std::uint16_t /*device*/) {
  return vendor == 0x10de ? "GH100" : "";
}

}  // namespace gdr::host

namespace {

using gdr::test::require;

using namespace gdr::host;

constexpr std::size_t kPairs = 8;

void check_pair(const PciTree& tree, const PciFunction& a, const PciFunction& b) {
  const auto path = path_between(tree, a, b);
  const auto nccl = nccl_path_between(tree, a, b);
  // NCCL takes a node that is not shown for one of its own.
  require(!path || nccl);
  require(path == path_between(tree, b, a));
  require(nccl == nccl_path_between(tree, b, a));
  const auto ports = ports_between(tree, a, b);
  // Ports of host bridges are known, even if the distance between the bridges is not.
  const bool one_bridge = !a.path.empty() && !b.path.empty() && a.path[0] == b.path[0];
  if (!path && one_bridge && !tree.is_incomplete(a.path[0])) require(ports.empty());
  for (const PortOnPath& port : ports) {
    require(port.address != a.address && port.address != b.address);
    require((port.redirects != 0) == (port.judgement == PortJudgement::kRedirects));
  }
  judge_path(ports);
}

void check(const Inventory& machine) {
  require(!machine.pci.empty() && machine.pci.functions().size() <= kMostFunctions);
  for (const auto& [address, function] : machine.pci.functions()) {
    require(is_pci_address(address) && address == function.address);
    require(!function.path.empty() && function.path.back() == address);
    require(function.path.size() <= kDeepestPath + 1);
    require(function.numa_node >= -1);
    for (const PciLink& link : function.links) require(link.speed >= 0 && link.width <= 32);
  }
  for (const Gpu& gpu : machine.gpus) require(gpu.pci && !gpu.model.empty());
  for (const Nic& nic : machine.nics) require(nic.pci && !nic.name.empty());
  for (std::size_t g = 0; g < std::min(machine.gpus.size(), kPairs); ++g) {
    for (std::size_t n = 0; n < std::min(machine.nics.size(), kPairs); ++n) {
      check_pair(machine.pci, *machine.gpus[g].pci, *machine.nics[n].pci);
    }
  }
}

void check(const gdr::Result<Inventory>& machine) {
  if (machine) return check(*machine);
  const std::string& message = machine.error().message;
  require(!message.empty() && message.size() < 1000);
  for (const char c : message) require(c >= ' ' && c <= '~');
}

void check_config(const std::string& bytes) {
  PciFunction function;
  fill_from_config(function, ConfigSpace(bytes));
  if (function.acs) require(function.acs->offset >= 0x100 && function.acs->offset < 0x1000);
  if (function.acs) require(function.acs->offset + 8u <= bytes.size());
  if (function.ats) require(function.ats->offset + 8u <= bytes.size());
  if (function.max_payload) require(function.device_control_offset + 2u <= bytes.size());
  require(function.resizable_bars.size() <= 6);
  if (bytes.size() <= 64) require(!function.configuration_read || bytes.size() > 0x34);
  judge_port(function);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // In an allocation of just its size, so that the address sanitizer sees a byte too far.
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'l': {
      const std::size_t end = rest.find('\0');
      std::vector<NamedText> texts{{"a.txt", rest.substr(0, end)}};
      if (end != std::string::npos) texts.push_back({"b.txt", rest.substr(end + 1)});
      check(read_lspci(texts));
      break;
    }
    case 'n':
      check(read_nccl_xml(rest));
      break;
    case 'h':
      check(read_hwloc_xml(rest));
      break;
    case 'c':
      check_config(rest);
      break;
    default:
      break;
  }
  return 0;
}
