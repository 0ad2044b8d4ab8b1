// P1: by which way GPU memory should come to a NIC here.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "A NIC can be given GPU memory in two ways. As a dma-buf: kernel 5.12 or newer, the open "
    "kernel module of the GPU driver from 515 on (Turing and later), CUDA 11.7, and a NIC driver "
    "that takes it; NVIDIA recommends it. Through a peer-memory client: the module nvidia_peermem "
    "(before driver 470 nv_peer_mem, for AWS's EFA efa_nv_peermem) on an RDMA stack that has the "
    "interface for it: MLNX_OFED or DOCA-OFED, Ubuntu's kernels from 5.4 to 6.5, linux-nvidia. One "
    "of them is enough, so a missing nvidia_peermem is well where dma-bufs work. This check says "
    "what the releases allow; check registration tries it.";

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  Ways ways = find_ways(host);
  // That there is no driver is gpu-driver's to say.
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
    return {ok("", "peer memory: a client is loaded; " + no_dma_buf, std::move(ways.evidence))};
  }
  if (ways.dma_buf == Tri::kUnknown) {
    return {unknown("", no_dma_buf + "; " + peer, std::move(ways.evidence),
                    to_type("gdr doctor --only registration", "on the host itself"))};
  }
  return {fail("", "neither way: " + no_dma_buf + "; " + peer, std::move(ways.evidence),
               "GPU memory cannot be registered: everything goes through host memory.",
               fix_of(ways))};
}

}  // namespace

const Check kRegistrationPath{"registration-path",
                              Area::kRegistration,
                              "Ways of giving GPU memory to a NIC",
                              kExplanation,
                              20,
                              Cost::kPassive,
                              find};

}  // namespace gdr::doctor
