// Confidential computing: what it takes away.
#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/kernel_log.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "In a confidential virtual machine (Intel TDX, AMD SEV) no device may reach the machine's "
    "memory, and a GPU in confidential computing (CC) mode passes data through an encrypted bounce "
    "buffer and lets nobody reach its own memory over PCIe. So a NIC can read or write neither: "
    "GPUDirect RDMA is not to be expected, and NCCL goes through the processor. NVIDIA's release "
    "notes for confidential computing (docs.nvidia.com/confidential-computing/release-notes) name "
    "the bounce buffer, and pinned host memory as not supported; that GPUDirect RDMA is not, we "
    "conclude from that. Read are the guest's own devices (tdx_guest, sev-guest) and the kernel's "
    "log; the mode of the GPU itself is told by nvidia-smi alone.";

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
    return {warn("", "a confidential virtual machine (" + sign.technique + ")",
                 {std::move(sign.evidence)},
                 "With the GPU in CC mode a NIC cannot reach its memory: GPUDirect RDMA is not to "
                 "be expected.",
                 {to_type("nvidia-smi conf-compute -f", "tells the mode of the GPU"),
                  to_do("where GPUDirect RDMA is needed, have a virtual machine without "
                        "confidential computing, "
                        "with CC mode of the GPU off: both are set on its host")})};
  }
  if (!shows(host.files, kDevices) && !host.kernel_log) {
    return {unknown("", "whether this is a confidential virtual machine does not show here",
                    {{std::string("/") + kDevices, "not there"}},
                    to_type("nvidia-smi conf-compute -f"))};
  }
  return {ok("", "no sign of confidential computing",
             {{std::string("/") + kDevices, "neither tdx_guest nor sev-guest"}})};
}

}  // namespace

const Check kConfidentialComputing{"confidential-computing",
                                   Area::kGpu,
                                   "Confidential virtual machine, GPU in CC mode",
                                   kExplanation,
                                   19,
                                   Cost::kPassive,
                                   find};

}  // namespace gdr::doctor
