// NVSHMEM and GDRCopy.
#include "explain/symptoms/advice.h"
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& shmem_symptoms() {
  static const Symptoms table = {
      {.id = "nvshmem-no-peermem",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "NVSHMEM sees no peer-memory module and leaves its InfiniBand transport out",
       .texts = {{"neither nv_peer_mem, or nvidia_peermem detected"},
                 {"Fallback to use either nv_peer_mem or nvidia_peermem"}},
       .cause = "`nvidia-peermem` is not loaded; or it is, and this NVSHMEM looks only in "
                "`/sys/kernel/mm/memory_peers`, which newer kernels and the inbox RDMA drivers do "
                "not have.",
       .consequence =
           "Transfers between hosts fail, or `init failed for transport: IBGDA` follows.",
       .checks = {"peer-memory"},
       .fix_now = "`sudo gdr fix peer-memory --apply`; `sudo modprobe nvidia-peermem`; with the "
                  "module loaded, a newer NVSHMEM",
       .fix_for_good = kPeermemAtBoot,
       .sources = {{"https://github.com/deepseek-ai/DeepEP/pull/151", Stated::kCauseAndFix},
                   {"https://github.com/deepseek-ai/DeepEP/issues/55", Stated::kSymptom}},
       .explains = {"nvshmem-no-transport", "ibgda-refused"}},
      {.id = "ibgda-refused",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "NVSHMEM cannot let the GPU drive the NIC (IBGDA)",
       .texts = {{"ibgda_alloc_and_map_qp_uar with GPU as handler failed"},
                 {"GPU cannot map UAR of device"},
                 {"cannot allocate mlx5dv_devx_uar"},
                 {"cannot allocate buffer on the specified memory type"},
                 {"no active IB device that supports GPU-initiated communication"},
                 {"The system does not support registering the NIC control buffers with DMABUF"},
                 {"NVSHMEM_IBGDA_NIC_HANDLER{end}"},
                 {"NVSHMEM_IBGDA_NIC_HANDLER is not valid"},
                 {"ibgda{}cannot register {word} buf"},
                 general("cannot register {word} buf."),
                 {"ibgda_create_cq failed"},
                 {"ibgda{}mlx5dv_devx_query_eqn failed"},
                 {"GDAKI not supported, please add NVreg_RegistryDwords"},
                 {"GIN{}GDAKI{}not supported"}},
       .cause = "The driver was not told to map the NIC's doorbells into the GPU, or the container "
                "lacks the rights for DEVX. GPUDirect RDMA itself does not need this.",
       .consequence =
           "IBGDA falls back to the processor or fails; DeepEP's low-latency mode stops.",
       .checks = {"gpu-parameters", "devices"},
       .fix_now =
           "In a container once with `--privileged`, to tell the two apart. NVSHMEM 3.4.5 and "
           "later go on with `NVSHMEM_IBGDA_NIC_HANDLER=cpu`.",
       .fix_for_good = "The line `options nvidia NVreg_EnableStreamMemOPs=1 "
                       "NVreg_RegistryDwords=\"PeerMappingOverride=1;\"` in "
                       "`/etc/modprobe.d/nvidia.conf`, once; then initramfs and a reboot.",
       .sources = {{"https://github.com/sgl-project/sglang/issues/12533", Stated::kCause},
                   {"https://github.com/NVIDIA/nvshmem/issues/34", Stated::kFix},
                   {"https://github.com/NVIDIA/nvshmem/issues/51", Stated::kSymptom},
                   {"https://github.com/deepseek-ai/DeepEP/issues/163", Stated::kSymptom}},
       .explains = {"nvshmem-no-transport"}},
      {.id = "ibgda-other-nic",
       .program = Program::kShmem,
       .certainty = Certainty::kCertain,
       .title = "NVSHMEM's IBGDA takes ConnectX NICs only, and this one is another",
       .texts = {{"is not enumerated as an mlx5 device"},
                 {"is not supported (expected HCA interface:"},
                 {"device does not support all necessary atomic operations"},
                 {"device {word} does not support all necessary atomic operations"}},
       .cause = "The GPU drives the NIC's queues itself, which NVSHMEM knows for mlx5 (and, in "
                "newer releases, a few others). A software, cloud (eRDMA, EFA) or other vendor's "
                "NIC is left out.",
       .consequence = "IBGDA is not used; DeepEP's low-latency mode stops.",
       .checks = {"rdma-nics"},
       .fix_now = "`ibv_devices`; `NVSHMEM_HCA_LIST` with the mlx5 devices; or without IBGDA: "
                  "`NVSHMEM_IB_ENABLE_IBGDA=0`",
       .fix_for_good = "A ConnectX-6 or later. For NICs that have it: `mlxconfig -d DEVICE set "
                       "PCI_ATOMIC_MODE=1`.",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/issues/202", Stated::kSymptom},
                   {"https://github.com/NVIDIA/nvshmem/blob/main/src/modules/transport/ibgda/"
                    "ibgda.cpp",
                    Stated::kSymptom}},
       .explains = {"nvshmem-no-transport", "ibgda-refused"}},
      {.id = "nvshmem-address-handle",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "NVSHMEM could not create an address handle (a defect on RoCE up to 3.4)",
       .texts = {{"Unable to create ah."}, {"create DCT share err"}},
       .cause =
           "NVSHMEM left part of the address attributes unset on RoCE; seen with ConnectX-8 and "
           "B300. Rarely the GID itself is of no use.",
       .consequence = "IBGDA does not start.",
       .checks = {"roce-gid"},
       .fix_now = "A newer NVSHMEM; meanwhile `NVSHMEM_IB_GID_INDEX=N` with a RoCE v2 GID.",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nvshmem/issues/21", Stated::kCause},
                   {"https://github.com/NVIDIA/nvshmem/issues/33", Stated::kSymptom}},
       .explains = {"nvshmem-no-transport"}},
      {.id = "nvshmem-no-transport",
       .program = Program::kShmem,
       .certainty = Certainty::kPossible,
       .title = "NVSHMEM could start no transport between hosts",
       .texts = {{"init failed for remote transport:"},
                 {"init failed for transport:"},
                 {"Unable to initialize any transports"},
                 {"nvshmem detect topo failed"},
                 {"Peer GPU {number} is not accessible, exiting"},
                 {"building transport map failed"},
                 {"connect EPS failed"},
                 {"Failed to initialize all selected devices. Perf may be limited"},
                 {"nvshmem setup connections failed"},
                 {"nvshmem initialization failed, exiting"},
                 {"NVSHMEM API called before NVSHMEM initialization has completed"},
                 {"bootstrap_net_recv{}Message truncated"},
                 {"allgather of ipc handles failed"}},
       .cause =
           "No `nvidia-peermem` (NVSHMEM looks for it even where dma-buf works), no usable NIC "
           "or GID, no `/dev/infiniband` in the container, or GPUs of one host that cannot "
           "reach each other. The first line of its log with another text says which.",
       .consequence = "NVSHMEM programs (DeepEP and others) stop.",
       .checks = {"peer-memory", "rdma-nics", "devices"},
       .fix_now = "`lsmod | grep peermem`; `ibv_devinfo | grep -E 'hca_id|state'`; "
                  "`NVSHMEM_DEBUG=INFO NVSHMEM_DEBUG_SUBSYS=TRANSPORT` in the environment of a run",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/issues/55", Stated::kSymptom},
                   {"https://github.com/deepseek-ai/DeepEP/issues/223", Stated::kSymptom}},
       .explains = {}},
      {.id = "gdrcopy-version",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "The loaded gdrdrv and GDRCopy's library do not fit",
       .texts = {{"Error getting the gdrdrv driver version with ioctl"},
                 {"gdrdrv might be too old"},
                 {"gdrdrv is too old and does not support"},
                 {"gdrdrv cannot fulfill the requested mapping type"},
                 {"could not open gdr copy, built for v"},
                 {"GDRCopy library is older than v2.0"},
                 {"gdrdrv{}incompatible page table version"}},
       .cause = "The library was updated and the module not, or (seen once) another driver took "
                "over gdrdrv's device number, so that `/dev/gdrdrv` leads elsewhere.",
       .consequence = "GDRCopy is not used. GPUDirect RDMA does not need it.",
       .checks = {"mpi-ucx"},
       .fix_now = "`modinfo -F version gdrdrv`; `grep gdrdrv /proc/devices`; `ls -l /dev/gdrdrv`; "
                  "`sudo modprobe -r gdrdrv`; `sudo modprobe gdrdrv`",
       .fix_for_good = "Library and module of the same release (packages libgdrapi, gdrdrv-dkms).",
       .sources = {{"https://github.com/NVIDIA/gdrcopy/issues/115", Stated::kCauseAndFix}},
       .explains = {"gdrcopy-absent"}},
      {.id = "gdrcopy-pin",
       .program = Program::kShmem,
       .certainty = Certainty::kPossible,
       .title = "GDRCopy could not pin GPU memory",
       .texts = {{"Assertion '(gdr_pin_buffer("},
                 {"gdr_pin_buffer failed"},
                 {"gdr_pin_buffer{}returned"},
                 {"gdrcopy pin_buffer failed"},
                 {"gdr_map failed"},
                 {"NVRM: Invalid argument in nv_p2p_get_pages"},
                 {"GDRCopy segment pin failed"},
                 {"CUDA{}nvidia_p2p_get_pages assumption of 64KB pages failed"}},
       .cause =
           "A GeForce card, whose driver refuses; a driver and GDRCopy that do not fit (GDRCopy "
           "before 2.4.2 with driver 560, driver 555 on Grace Hopper); memory that is not 64 "
           "KiB aligned; or a full BAR1 window.",
       .consequence = "GDRCopy is not used. GPUDirect RDMA by dma-buf may work all the same.",
       .checks = {"gpu-capability", "gpu-driver", "gpu-bar1"},
       .fix_now = "`sudo dmesg | grep -E 'gdrdrv|NVRM' | tail`; `gdrcopy_sanity`; "
                  "`gdr prove --require-hardware`",
       .fix_for_good = "The newest GDRCopy release.",
       .sources = {{"https://github.com/NVIDIA/gdrcopy/issues/305", Stated::kFix},
                   {"https://github.com/NVIDIA/gdrcopy/issues/299", Stated::kFix},
                   {"https://github.com/NVIDIA/gdrcopy/issues/139", Stated::kSymptom}},
       .explains = {}},
      {.id = "gdrcopy-absent",
       .program = Program::kShmem,
       .certainty = Certainty::kCertain,
       .title = "GDRCopy is not there: its module gdrdrv is not loaded",
       .texts = {{"unable to open GDR driver, is gdrdrv.ko loaded?"},
                 {"gdr_open error: Is gdrdrv driver installed and loaded?"},
                 {"transport 'gdr_copy' is not available"},
                 {"Assertion '!((g) == ((void*)0))' failed at sanity"},
                 {"Failed to dlopen libgdrapi.so"},
                 {"gdrcopy_dl_hmem_init failed"},
                 {"libgdrapi.so{word} cannot open shared object file"},
                 {"libgdrapi.so: cannot open shared object file"},
                 {"GDRCopy open call failed"},
                 {"failed to open gdr copy"},
                 {"Failed to open gdr handle"},
                 {"Could not load libgdrapi.so"},
                 {"Failed to initialize GDRCopy"},
                 {"gdrcopy requires gdrdrv or CUDA driver with dmabuf mmap support"},
                 {"Module gdrdrv not found"},
                 {"error opening driver (errno={number}/"}},
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
