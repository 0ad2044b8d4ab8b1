// What ends a job and is no matter of GPUDirect RDMA: its start, its watchdog, CUDA, huge pages.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& job_symptoms() {
  static const Symptoms table = {
      {.id = "hugepages",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "No huge pages are free for a program that asks for them",
       .texts = {general("hugepage && {fails}"), general("huge pages && {fails}"),
                 general("hugetlb && {fails}"), general("No free {} hugepages"),
                 general("no free hugepages"), general("SHM_HUGETLB && {fails}"),
                 general("MAP_HUGETLB && {fails}")},
       .cause = "The kernel has reserved none, or too few of this size, or the container was given "
                "none. It is host memory; no NIC or GPU is concerned.",
       .consequence = "The program stops, or takes ordinary pages.",
       .checks = {},
       .fix_now =
           "`grep -i huge /proc/meminfo`; `echo 1024 | sudo tee /proc/sys/vm/nr_hugepages`; in "
           "Kubernetes: the resource `hugepages-2Mi` in the pod",
       .fix_for_good = "`echo vm.nr_hugepages=1024 | sudo tee /etc/sysctl.d/90-hugepages.conf`",
       .sources = {{"https://docs.kernel.org/admin-guide/mm/hugetlbpage.html", Stated::kFix}},
       .explains = {}},
      {.id = "nccl-watchdog",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title = "PyTorch's watchdog ended a job whose ranks waited for each other in vain",
       .texts = {general("Watchdog caught collective operation timeout"),
                 general("watchdog thread{}terminated with exception"),
                 general("Timeout at NCCL work"),
                 general("ran for {number} milliseconds before timing out"),
                 general("last enqueued NCCL work"), general("monitoredBarrier{}{fails}"),
                 general("NCCL communicator was aborted on rank")},
       .cause = "One rank did not come to the same operation: it failed, waits for data, or runs "
                "another one. A network that has broken is one of several causes; NCCL's own lines "
                "before show it.",
       .consequence = "All ranks are ended.",
       .checks = {},
       .fix_now =
           "`NCCL_DEBUG=INFO TORCH_NCCL_TRACE_BUFFER_SIZE=2000` in the environment of the next "
           "run; the first error of every rank",
       .fix_for_good = "",
       .sources = {{"https://docs.pytorch.org/docs/stable/distributed.html", Stated::kFix}},
       .explains = {}},
      {.id = "job-rendezvous",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The job's processes do not find each other by TCP (rendezvous): no RDMA is "
                "involved yet",
       .texts = {general("TCPStore{}{fails}"),
                 general("TCPStore{}timed out"),
                 general("client socket has timed out"),
                 general("client socket has failed to connect"),
                 general("server socket has failed to"),
                 general("DistStoreError"),
                 general("DistNetworkError"),
                 general("RendezvousConnectionError"),
                 general("RendezvousTimeoutError"),
                 general("Gloo connectFullMesh failed"),
                 general("gloo && connect && {fails}"),
                 general("bootstrap && {fails}"),
                 general("PMIX_SUCCESS == rc"),
                 general("PMIX ERROR: UN"),
                 general("PMIX ERROR: NO"),
                 general("PMIX ERROR: INVALID"),
                 general("PMIX ERROR{}timeout"),
                 general("PMIx_Init failed"),
                 general("ORTE_ERROR_LOG"),
                 general("ORTE was unable"),
                 general("ORTE has lost communication"),
                 general("PRTE has lost communication"),
                 general("Timed out waiting for clients")},
       .cause =
           "The address of the first process (`MASTER_ADDR`, `--rdzv-endpoint`) cannot be reached "
           "from here, its port is taken, a firewall is between, or that process has not "
           "started or has ended.",
       .consequence = "The job does not start; neither NCCL nor a NIC has been used.",
       .checks = {},
       .fix_now = "`getent hosts $MASTER_ADDR`; `nc -vz $MASTER_ADDR $MASTER_PORT`; the log of the "
                  "first process; `GLOO_SOCKET_IFNAME` with the interface that all hosts share",
       .fix_for_good = "",
       .sources = {{"https://docs.pytorch.org/docs/stable/elastic/run.html", Stated::kCause}},
       .explains = {"nccl-watchdog"}},
      {.id = "nccl-class",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title =
           "NCCL's error class alone: the cause is in its own lines, which are not in this text",
       .texts = {last("unhandled system error"), last("ncclSystemError: "),
                 last("ncclInternalError: "), last("ncclRemoteError: "),
                 last("ncclUnhandledCudaError"), last("NCCL error{}internal error"),
                 last("NCCL Error 2: "), last("NCCL Error 3: "),
                 last("remote process exited or there was a network error"),
                 last("Test NCCL failure"), last("ncclInvalidUsage")},
       .cause =
           "System error: a call to the operating system or to the NIC failed. Internal error: "
           "often a NIC or its settings. Remote error: another rank has ended or the network "
           "broke. Which call it was is in the lines `NCCL WARN` of the rank that failed first.",
       .consequence = "The job stops.",
       .checks = {"rdma-nics", "peer-memory", "locked-memory"},
       .fix_now = "`export NCCL_DEBUG=INFO`; run again, and give `gdr explain` the whole output",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/"
                    "troubleshooting.html",
                    Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "cuda-error",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title = "A CUDA program failed on its GPU (memory, an illegal access): no NIC is involved",
       .texts = {general("CUDA out of memory"), general("CUDA_ERROR_OUT_OF_MEMORY"),
                 general("cudaErrorMemoryAllocation"), general("CUDA_ERROR_ILLEGAL_ADDRESS"),
                 general("cudaErrorIllegalAddress"),
                 general("an illegal memory access was encountered"),
                 general("CUDA error: device-side assert"),
                 general("CUDA error: unspecified launch failure"),
                 general("CUDA error: invalid device ordinal"), general("CUDA_ERROR_LAUNCH_FAILED"),
                 general("cuMemcpy && failed")},
       .cause =
           "The GPU's memory is full, or the program's own code on the GPU reached for memory that "
           "it does not have.",
       .consequence = "The program stops.",
       .checks = {},
       .fix_now =
           "`nvidia-smi`; `CUDA_LAUNCH_BLOCKING=1` in the environment, or `compute-sanitizer "
           "PROGRAM`",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html",
                    Stated::kCause}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
