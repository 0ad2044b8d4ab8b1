// Confidential computing: what it takes away.
#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/kernel_log.h"

namespace gdr::doctor {
namespace confidential_computing_check {

constexpr const char* kExplanation =
    "In a confidential virtual machine (Intel TDX, AMD SEV) no device may reach the machine's "
    "memory. A GPU in confidential computing (CC) mode passes data through an encrypted bounce "
    "buffer and hides its own memory from PCIe. So a NIC can reach neither: do not expect "
    "GPUDirect RDMA; NCCL goes through the CPU. NVIDIA's release notes for confidential computing "
    "(docs.nvidia.com/confidential-computing/release-notes) describe the bounce buffer and say "
    "that pinned host memory is not supported; that GPUDirect RDMA does not work is our "
    "conclusion. The check reads the guest's devices (tdx_guest, sev-guest) and the kernel log; "
    "only nvidia-smi shows the mode of the GPU.";

constexpr const char* kDevices = "sys/class/misc";

struct Sign {
  std::string technique;  // "Intel TDX"; empty: none was seen
  Evidence evidence;
};

// "Memory Encryption Features active: AMD SEV SEV-ES SEV-SNP"; SME encrypts the host's own memory.
Sign sign_in_log(const Host& host) {
  for (const std::string& line : log_lines(host, "Memory Encryption Features active:")) {
    for (const auto& [word, technique] :
         {std::pair("TDX", "Intel TDX"), std::pair("SEV", "AMD SEV")}) {
      if (line.find(word) != std::string::npos) {
        return {technique, {"kernel's log", "Memory Encryption Features active"}};
      }
    }
  }
  return {};
}

Sign find_sign(const Host& host) {
  for (const auto& [device, technique] :
       {std::pair("tdx_guest", "Intel TDX"), std::pair("sev-guest", "AMD SEV")}) {
    const std::string path = std::string(kDevices) + "/" + device;
    if (host.files.exists(path)) return {technique, {"/" + path, "there"}};
  }
  return sign_in_log(host);
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  if (!host.inventory.virtual_machine) return does_not_apply("not a virtual machine");
  Sign sign = find_sign(host);
  if (!sign.technique.empty()) {
    return {warn(
        "", "a confidential virtual machine (" + sign.technique + ")", {std::move(sign.evidence)},
        "If the GPU is in CC mode, a NIC cannot reach its memory: do not expect GPUDirect RDMA.",
        {to_type("nvidia-smi conf-compute -f", "shows the mode of the GPU"),
         to_do("for GPUDirect RDMA use a virtual machine without confidential computing and switch "
               "CC mode of the GPU off; set both on the host")})};
  }
  if (!shows(host.files, kDevices) && !host.kernel_log) {
    return {unknown("", "cannot tell from here whether this is a confidential virtual machine",
                    {{std::string("/") + kDevices, "not there"}},
                    to_type("nvidia-smi conf-compute -f"))};
  }
  return {ok("", "no sign of confidential computing",
             {{std::string("/") + kDevices, "neither tdx_guest nor sev-guest"}})};
}

}  // namespace confidential_computing_check

const Check kConfidentialComputing{"confidential-computing",
                                   Area::kGpu,
                                   "Confidential virtual machine, GPU in CC mode",
                                   confidential_computing_check::kExplanation,
                                   19,
                                   Cost::kPassive,
                                   confidential_computing_check::find};

}  // namespace gdr::doctor
