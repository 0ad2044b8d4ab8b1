// The ways to register GPU memory that kernel, driver and RDMA stack allow.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace registration_path_check {

constexpr const char* kExplanation =
    "GPU memory can be registered with a NIC in two ways. First, as a dma-buf, which NVIDIA "
    "recommends: it needs kernel 5.12 or newer, the open kernel module of GPU driver 515 or newer "
    "(Turing and later), CUDA 11.7, and a NIC driver with support. Second, through a peer-memory "
    "module: nvidia_peermem (nv_peer_mem before driver 470, efa_nv_peermem for AWS's EFA) on an "
    "RDMA stack with that interface: MLNX_OFED or DOCA-OFED, Ubuntu's kernels 5.4 to 6.5, "
    "linux-nvidia. One way is enough, so a missing nvidia_peermem is fine if dma-buf works. This "
    "check says what the releases allow; the check registration tries it.";

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  Ways ways = find_ways(host);
  // gpu-driver reports a missing driver.
  if (!ways.driver_loaded) return does_not_apply("the NVIDIA driver is not loaded");
  const std::string peer = ways.peer_memory_text();
  if (ways.dma_buf == Tri::kYes) {
    return {ok(
        "", "dma-buf: kernel " + ways.kernel + ", open module " + ways.driver_version + "; " + peer,
        std::move(ways.evidence))};
  }
  const std::string no_dma_buf =
      (ways.dma_buf == Tri::kNo ? "no dma-buf: " : "dma-buf unknown: ") + ways.why_no_dma_buf;
  if (ways.peer_memory) {
    return {ok("", "peer memory: a module is loaded; " + no_dma_buf, std::move(ways.evidence))};
  }
  if (ways.dma_buf == Tri::kUnknown) {
    return {unknown("", no_dma_buf + "; " + peer, std::move(ways.evidence),
                    to_type("gdr doctor --only registration", "on the host itself"))};
  }
  return {fail("", "GPU memory cannot be registered: " + no_dma_buf + "; " + peer,
               std::move(ways.evidence), "All transfers go through host memory.", fix_of(ways))};
}

}  // namespace registration_path_check

const Check kRegistrationPath{"registration-path",
                              Area::kRegistration,
                              "Ways to register GPU memory with a NIC",
                              registration_path_check::kExplanation,
                              20,
                              Cost::kPassive,
                              registration_path_check::find};

}  // namespace gdr::doctor
