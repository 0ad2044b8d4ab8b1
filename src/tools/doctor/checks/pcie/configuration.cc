#include "doctor/checks/pcie/configuration.h"

#include <algorithm>

#include "host/pci/vendors.h"

namespace gdr::doctor {
namespace {

// Virtual functions of ConnectX-3 to -6, and of all that came after them (pci.ids).
constexpr std::uint16_t kVirtualFunctions[] = {0x1002, 0x1004, 0x1014, 0x1016,
                                               0x1018, 0x101a, 0x101c, 0x101e};

}  // namespace

bool settings_are_elsewhere(const host::PciFunction& function) {
  return function.is_virtual_function ||
         (function.vendor == host::vendor::kMellanox &&
          std::ranges::find(kVirtualFunctions, function.device) != std::end(kVirtualFunctions));
}

Finding not_readable(const Host& host, const std::string& what, const std::string& example) {
  Finding finding;
  finding.outcome = Outcome::kUnknown;
  finding.evidence = {{"/sys/bus/pci/devices/" + example + "/config", "truncated or missing"}};
  if (host.is_live()) {
    finding.summary = what + " cannot be read without root";
    finding.fix.now = to_type("sudo gdr doctor");
  } else {
    finding.summary = what + " is not in the capture";
    finding.fix.now = to_type("sudo gdr doctor capture host.tar", "on that machine, as root");
  }
  return finding;
}

std::string config_of(const host::PciFunction& function) {
  return "/sys/bus/pci/devices/" + function.address + "/config";
}

}  // namespace gdr::doctor
