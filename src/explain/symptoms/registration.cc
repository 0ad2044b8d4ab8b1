// Memory that cannot be registered with the NIC.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& registration_symptoms() {
  static const Symptoms table = {
      {.id = "mr-bad-address",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "GPU memory cannot be registered: Bad address (error 14)",
       .texts = {{"Couldn't allocate MR with error=14"},
                 {"NCCL WARN Call to ibv_reg_mr{}failed with error Bad address"},
                 {"ibv_reg_mr(address={}failed: Bad address"},
                 {"ERRNO: Bad address."},
                 {"allocated GPU buffer", 1},
                 {"Couldn't allocate MR{end}", 2}},
       .cause =
           "The kernel was given a GPU address and no peer-memory client knew it: `nvidia-peermem` "
           "is not loaded, or perftest was to use dma-buf and `--use_cuda_dmabuf` was not given.",
       .consequence = "No GPUDirect RDMA: perftest stops, NCCL and UCX copy through host memory.",
       .checks = {"peer-memory", "registration-path"},
       .fix_now = "`ib_write_bw --use_cuda=0 --use_cuda_dmabuf`, or `sudo modprobe nvidia-peermem`",
       .fix_for_good = "`echo nvidia-peermem | sudo tee /etc/modules-load.d/nvidia-peermem.conf`",
       .sources = {{"https://github.com/linux-rdma/perftest/issues/126", Stated::kFix},
                   {"https://github.com/linux-rdma/perftest/issues/346", Stated::kCauseAndFix},
                   {"https://github.com/linux-rdma/perftest/issues/31", Stated::kSymptom}},
       .explains = {"mr-refused"}},
      {.id = "mr-no-dma-buf",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "GPU memory cannot be registered: no dma-buf in the RDMA stack (error 93, 95)",
       .texts = {{"Couldn't allocate MR with error=93"},
                 {"Couldn't allocate MR with error=95"},
                 {"Call to ibv_reg_dmabuf_mr failed with error Operation not supported"},
                 {"Call to ibv_reg_dmabuf_mr failed with error Protocol not supported"},
                 {"ibv_reg_dmabuf_mr({}failed: Operation not supported"},
                 {"ibv_reg_dmabuf_mr({}failed: Protocol not supported"}},
       .cause = "The kernel is older than 5.12, its RDMA driver cannot import dma-bufs, or the "
                "libibverbs in the container is older or another than the host's driver needs.",
       .consequence = "The dma-buf way is closed; GPUDirect RDMA needs `nvidia-peermem` then.",
       .checks = {"registration-path", "peer-memory"},
       .fix_now = "`sudo modprobe nvidia-peermem`, and `NCCL_DMABUF_ENABLE=0` (perftest: without "
                  "`--use_cuda_dmabuf`)",
       .fix_for_good = "Linux 5.12 or later with its own mlx5_ib, or a current DOCA-OFED on host "
                       "and in the container.",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/778", Stated::kCauseAndFix},
                   {"https://github.com/perplexityai/pplx-garden/pull/3", Stated::kCause},
                   {"https://github.com/linux-rdma/perftest/issues/280", Stated::kSymptom}},
       .explains = {}},
      {.id = "locked-memory",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "Memory cannot be registered: the limit of locked memory is too low",
       .texts = {{"Couldn't allocate MR with error=12"},
                 {"Please set max locked memory (ulimit -l) to 'unlimited'"},
                 {"Warning: RLIMIT_MEMLOCK is {number} bytes"},
                 {"Call to ibv_reg_mr{}failed with error Cannot allocate memory"},
                 {"Call to ibv_create_{}failed with error Cannot allocate memory"},
                 {"ibv_reg_mr({}failed: Cannot allocate memory"},
                 {"ibv_create_cq({}failed: Cannot allocate memory"},
                 {"Failed to create a completion queue (CQ):", 1},
                 {"Error: Cannot allocate memory", 2}},
       .cause = "What a NIC works with must stay in memory, and the process may lock too little: "
                "64 KiB to 8 MiB is what shells, services and container runtimes give. Limits of "
                "`/etc/security` do not reach services and containers. Rarely the GPU's BAR1 "
                "window is full.",
       .consequence = "The program fails, or silently goes over TCP.",
       .checks = {"locked-memory", "gpu-bar1"},
       .fix_now = "`ulimit -l unlimited` in the shell that starts it; containers: `docker run "
                  "--ulimit memlock=-1`",
       .fix_for_good =
           "`* - memlock unlimited` in `/etc/security/limits.d/rdma.conf` and a new login; "
           "`LimitMEMLOCK=infinity` for sshd, slurmd, containerd, docker, and a restart.",
       .sources = {{"https://github.com/NVIDIA/nccl-tests/issues/206", Stated::kCauseAndFix},
                   {"https://github.com/open-mpi/ompi/issues/6468", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037",
                    Stated::kCauseAndFix},
                   {"https://github.com/openucx/ucx/issues/8229", Stated::kCauseAndFix}},
       .explains = {"mr-refused", "openfabrics-device"}},
      {.id = "mr-refused",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title = "perftest could not register memory, and this version does not say why",
       .texts = {{"Couldn't allocate MR{end}"}},
       .cause =
           "With host memory: the limit of locked memory, or a NIC (iWARP, software) that refuses "
           "the flags that perftest asks for. With `--use_cuda`: no peer-memory module.",
       .consequence = "perftest stops.",
       .checks = {"locked-memory", "peer-memory"},
       .fix_now = "A perftest of 2022 or later names the error; `gdr prove` tries each way of "
                  "registering on its own.",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/issues/26", Stated::kSymptom},
                   {"https://github.com/zrlio/softiwarp/issues/23", Stated::kSymptom}},
       .explains = {}},
      {.id = "perftest-dma-buf",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "perftest was not given a GPU that it can use with dma-buf",
       .texts = {{"CUDA DMA-BUF cannot be used without CUDA"},
                 {"DMA-BUF is not supported on this GPU"}},
       .cause = "'without CUDA': `--use_cuda_dmabuf` stands in front of `--use_cuda` on the "
                "command line. 'not supported': the GPU's kernel module is not the open one, or "
                "the driver is older than CUDA 11.7.",
       .consequence = "perftest stops.",
       .checks = {"gpu-driver", "registration-path"},
       .fix_now = "`--use_cuda=0 --use_cuda_dmabuf`, in this order",
       .fix_for_good = "NVIDIA's open kernel modules (515 or later, Turing or newer GPUs).",
       .sources = {{"https://github.com/linux-rdma/perftest/issues/336", Stated::kCauseAndFix},
                   {"https://github.com/linux-rdma/perftest/blob/master/src/cuda_memory.c",
                    Stated::kCause}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
