// Fabric Manager on hosts with NVSwitch.
#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "host/pci/vendors.h"

namespace gdr::doctor {
namespace fabric_manager_check {

constexpr const char* kExplanation =
    "On boards with NVSwitch (HGX and DGX with A100 or H100, DGX-2) NVIDIA's Fabric Manager sets "
    "up the switches. Unless it runs, CUDA programs end with error 802, 'system not yet "
    "initialized' (cudaErrorSystemNotReady), or GPUs have no NVLink to each other. It must have "
    "the same release as the driver; otherwise it exits. Source: NVIDIA Fabric Manager User Guide "
    "(docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide). The check looks for NVSwitches "
    "on the PCI bus, for the process, and for systemd's control group of the service. Since B200 "
    "NVSwitches are not PCI functions, so the check does not see them.";

constexpr std::uint32_t kOtherBridge = 0x0680;
// V100, A100, H100; others by their driver.
constexpr std::uint16_t kSwitches[] = {0x1ac0, 0x1ac1, 0x1ac2, 0x1af1, 0x22a3};
// The kernel keeps 15 letters of nv-fabricmanager.
constexpr const char* kProcess = "nv-fabricmanage";
constexpr const char* kSlices[] = {"sys/fs/cgroup/system.slice",
                                   "sys/fs/cgroup/systemd/system.slice"};
constexpr const char* kService = "nvidia-fabricmanager.service";

bool is_switch(const host::PciFunction& function) {
  return function.vendor == host::vendor::kNvidia && function.class_code >> 8 == kOtherBridge &&
         (function.driver == "nvidia-nvswitch" ||
          std::find(std::begin(kSwitches), std::end(kSwitches), function.device) !=
              std::end(kSwitches));
}

std::optional<Evidence> running(const host::Files& files) {
  for (const char* slice : kSlices) {
    const std::string path = std::string(slice) + "/" + kService;
    if (files.exists(path)) return Evidence{"/" + path, "there"};
  }
  for (const std::string& entry : files.entries("proc")) {
    if (entry.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string path = "proc/" + entry + "/comm";
    if (files.line(path) == kProcess) return Evidence{"/" + path, kProcess};
  }
  return std::nullopt;
}

Findings find(const Host& host) {
  const auto& functions = host.inventory.pci.functions();
  const auto first = std::find_if(functions.begin(), functions.end(),
                                  [](const auto& known) { return is_switch(known.second); });
  if (first == functions.end()) return does_not_apply("no NVSwitch on the PCI bus");
  const auto count = std::count_if(functions.begin(), functions.end(),
                                   [](const auto& known) { return is_switch(known.second); });
  Evidences evidence = {{"PCI bus", std::to_string(count) + " NVSwitch" + (count > 1 ? "es" : "") +
                                        ", the first at " + first->first}};
  if (auto where = running(host.files)) {
    evidence.push_back(*std::move(where));
    return {ok("", "Fabric Manager runs", std::move(evidence))};
  }
  // Who sees the services' control groups sees whether this one is there; a container does not.
  const bool sees_services = std::any_of(std::begin(kSlices), std::end(kSlices),
                                         [&](const char* s) { return shows(host.files, s); });
  if (!sees_services) {
    evidence.push_back({"/" + std::string(kSlices[0]), "not there"});
    return {unknown("", "cannot tell from here whether Fabric Manager runs", std::move(evidence),
                    to_type("systemctl is-active nvidia-fabricmanager"))};
  }
  evidence.push_back({"/" + std::string(kSlices[0]) + "/" + kService, "not there"});
  return {fail("", "this host has NVSwitches, but Fabric Manager is not running",
               std::move(evidence),
               "CUDA programs end with error 802 (system not yet initialized), or GPUs have no "
               "NVLink.",
               {to_type("sudo systemctl start nvidia-fabricmanager"),
                to_type("sudo systemctl enable nvidia-fabricmanager",
                        "its package must have the driver's release")})};
}

}  // namespace fabric_manager_check

const Check kFabricManager{"fabric-manager",
                           Area::kGpu,
                           "Fabric Manager on hosts with NVSwitch",
                           fabric_manager_check::kExplanation,
                           14,
                           Cost::kPassive,
                           fabric_manager_check::find};

}  // namespace gdr::doctor
