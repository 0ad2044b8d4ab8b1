// NVSHMEM and GDRCopy.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& shmem_symptoms() {
  static const Symptoms table = {
      {.id = "nvshmem-no-peermem",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "NVSHMEM sees no peer-memory module and leaves its InfiniBand transport out",
       .texts = {{"neither nv_peer_mem, or nvidia_peermem detected"}},
       .cause = "`nvidia-peermem` is not loaded; or it is, and this NVSHMEM looks only in "
                "`/sys/kernel/mm/memory_peers`, which newer kernels and the inbox RDMA drivers do "
                "not have.",
       .consequence =
           "Transfers between hosts fail, or `init failed for transport: IBGDA` follows.",
       .checks = {"peer-memory"},
       .fix_now = "`sudo modprobe nvidia-peermem`; with the module loaded, a newer NVSHMEM.",
       .fix_for_good = "`echo nvidia-peermem | sudo tee /etc/modules-load.d/nvidia-peermem.conf`",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/pull/151", Stated::kCauseAndFix},
                   {"https://github.com/deepseek-ai/DeepEP/issues/55", Stated::kSymptom}},
       .explains = {}},
      {.id = "ibgda-refused",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "NVSHMEM cannot let the GPU drive the NIC (IBGDA)",
       .texts = {{"ibgda_alloc_and_map_qp_uar with GPU as handler failed"},
                 {"GPU cannot map UAR of device"},
                 {"NULL value cannot allocate mlx5dv_devx_uar"}},
       .cause = "The driver was not told to map the NIC's doorbells into the GPU, or the container "
                "lacks the rights for DEVX. GPUDirect RDMA itself does not need this.",
       .consequence =
           "IBGDA falls back to the processor or fails; DeepEP's low-latency mode stops.",
       .checks = {"gpu-parameters", "devices"},
       .fix_now = "In a container: `--privileged`, to tell the two apart.",
       .fix_for_good = "`options nvidia NVreg_EnableStreamMemOPs=1 "
                       "NVreg_RegistryDwords=\"PeerMappingOverride=1;\"` in "
                       "`/etc/modprobe.d/nvidia.conf`, once; then initramfs and a reboot.",
       .sources = {{"https://github.com/sgl-project/sglang/issues/12533", Stated::kCause},
                   {"https://github.com/deepseek-ai/DeepEP/issues/163", Stated::kSymptom}},
       .explains = {}},
      {.id = "gdrcopy-absent",
       .program = Program::kShmem,
       .certainty = Certainty::kCertain,
       .title = "GDRCopy is not there: its module gdrdrv is not loaded",
       .texts = {{"unable to open GDR driver, is gdrdrv.ko loaded?"},
                 {"gdr_open error: Is gdrdrv driver installed and loaded?"},
                 {"transport 'gdr_copy' is not available"}},
       .cause = "The module gdrdrv is not loaded, has no `/dev/gdrdrv`, or the container was not "
                "given it. Or UCX was built without GDRCopy.",
       .consequence = "Small messages of GPU memory are slower. GPUDirect RDMA does not need it.",
       .checks = {"mpi-ucx"},
       .fix_now = "`sudo modprobe gdrdrv`; containers: `--device /dev/gdrdrv`",
       .fix_for_good = "`echo gdrdrv | sudo tee /etc/modules-load.d/gdrdrv.conf`",
       .sources = {{"https://github.com/NVIDIA/gdrcopy/issues/234", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gdrcopy/issues/72", Stated::kSymptom},
                   {"https://github.com/openucx/ucx/issues/7917", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
