// Kernel lockdown and Secure Boot, which keep modules and PCI settings from being changed.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace lockdown_check {

constexpr const char* kExplanation =
    "Under Secure Boot most distributions lock the kernel down: writes to PCI configuration space "
    "fail with EPERM, so ACS and MaxReadReq cannot be changed at run time, and the kernel refuses "
    "modules without a trusted signature, nvidia-peermem among them. This is not wrong in itself. "
    "Set ACS on the kernel command line (pci=disable_acs_redir=, pci=config_acs=), and sign the "
    "modules. gdr never switches Secure Boot off. The check reads /sys/kernel/security/lockdown "
    "and the firmware variable SecureBoot.";

constexpr const char* kLockdownFile = "sys/kernel/security/lockdown";
constexpr const char* kSecureBoot =
    "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

// Four bytes of attributes, then the value.
std::string secure_boot(const Host& host) {
  const std::string bytes = host.files.text(kSecureBoot);
  if (bytes.size() != 5) return host.files.exists("sys/firmware/efi") ? "not readable" : "no UEFI";
  return bytes[4] == 1 ? "on" : "off";
}

// "none [integrity] confidentiality": the mode in force stands in brackets.
std::string mode_in(const std::string& line) {
  const auto begin = line.find('['), end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return line.substr(begin + 1, end - begin - 1);
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty() && host.inventory.nics.empty()) {
    return does_not_apply("neither NVIDIA GPU nor RDMA NIC");
  }
  const std::string mode = mode_in(host.files.line(kLockdownFile));
  const std::string boot = secure_boot(host);
  const Evidences evidence = {read_line(host.files, kLockdownFile),
                              {std::string("/") + kSecureBoot, boot}};
  if (mode == "integrity" || mode == "confidentiality") {
    const std::string summary = "the kernel is locked down (" + mode + "); Secure Boot " + boot;
    const Ways ways = find_ways(host);
    const bool wants_module = ways.driver_loaded && ways.dma_buf == Tri::kNo && !ways.peer_memory;
    if (!wants_module) {
      return {ok("", summary + "; change PCI settings on the kernel command line", evidence)};
    }
    return {warn("", summary + ", and nvidia-peermem is needed", evidence,
                 "The kernel accepts the module only with a signature from an enrolled key.",
                 {{}, sign_the_module()})};
  }
  if (mode == "none") return {ok("", "the kernel is not locked down", evidence)};
  // Kernels without the lockdown module have no such file; securityfs may also not be mounted.
  if (host.files.entries("sys/kernel/security").empty()) {
    if (!host.is_live()) {
      return {not_shown(host.files, kLockdownFile, "whether the kernel is locked down")};
    }
    return {unknown("", "cannot see whether the kernel is locked down", evidence,
                    to_type("sudo mount -t securityfs securityfs /sys/kernel/security"))};
  }
  return {ok("", "this kernel does not support lockdown", evidence)};
}

}  // namespace lockdown_check

const Check kLockdown{"lockdown",
                      Area::kPcie,
                      "Kernel lockdown and Secure Boot",
                      lockdown_check::kExplanation,
                      70,
                      Cost::kPassive,
                      lockdown_check::find};

}  // namespace gdr::doctor
