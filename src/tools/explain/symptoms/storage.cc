// Files and disks: over RDMA (NVMe-oF, SPDK, Lustre, NFS) and into GPU memory (GPUDirect Storage).
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& storage_symptoms() {
  static const Symptoms table = {
      {.id = "gds-driver",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "GPUDirect Storage: the module nvidia-fs is not loaded, or was built for another "
                "driver",
       .texts = {{"nvidia-fs.ko driver not loaded"},
                 {"nvidia-fs driver is not loaded"},
                 {"nvidia_p2p_{word}{}nvidia-fs.ko{}undefined"},
                 {"nvidia_fs: no symbol version for"},
                 {"nvidia_fs: disagrees about version of symbol"},
                 {"nvidia_fs: Unknown symbol"},
                 {"Could not insert 'nvidia_fs'"},
                 {"Module nvidia_fs not found"},
                 {"Module nvidia-fs not found"},
                 {"/proc/driver/nvidia-fs && {fails}"},
                 {"/dev/nvidia-fs && {fails}"},
                 {"CU_FILE_DRIVER_NOT_INITIALIZED"},
                 {"cuFile err=5001"},
                 {"CU_FILE_DRIVER_VERSION_MISMATCH"},
                 {"CU_FILE_DRIVER_VERSION_READ_ERROR"}},
       .cause = "The package nvidia-fs-dkms is not installed, was not built for this kernel and "
                "NVIDIA driver (its build takes Module.symvers of the driver's sources), or a "
                "container was not given `/dev/nvidia-fs*`.",
       .consequence = "cuFile copies through host memory (compatibility mode), or refuses.",
       .checks = {"gpu-driver"},
       .fix_now = "`dkms status`; `sudo modprobe nvidia-fs`; `sudo dmesg | grep -iE "
                  "'nvidia.fs|nvfs' | tail`; containers: `docker run --gpus all --device "
                  "/dev/nvidia-fs0`; then `/usr/local/cuda/gds/tools/gdscheck -p`",
       .fix_for_good = "nvidia-fs of the same CUDA release as libcufile, rebuilt with each new "
                       "driver.",
       .sources = {{"https://docs.nvidia.com/gpudirect-storage/troubleshooting-guide/index.html",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gds-nvidia-fs/issues/72", Stated::kSymptom}},
       .explains = {"gpudirect-storage", "gds-file", "module-absent"}},
      {.id = "gds-file",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "GPUDirect Storage does not take this file: its file system or the disk's driver "
                "has no support",
       .texts = {{"GPUDirect Storage not supported on current file"},
                 {"cuFileHandleRegister{}{fails}"},
                 {"cuFileHandleRegister GDS not supported"},
                 {"NVMe Driver not registered with nvidia-fs"},
                 {"gpu attribute pci_p2pdma not supported"},
                 {"CU_FILE_IO_NOT_SUPPORTED"},
                 {"CU_FILE_INVALID_FILE_TYPE"},
                 {"cuFile err=5008"},
                 {"error creating udev_device for block device"},
                 {"NVMe : Unsupported", 1},
                 {"GDS release version", 2},
                 {"--Mellanox PeerDirect :", 2},
                 {"--rdma library :", 2}},
       .cause =
           "Local files: cuFile wants ext4 or xfs on an NVMe disk whose kernel driver knows "
           "nvidia-fs (MLNX_OFED or DOCA-OFED installed `--with-nvmf --enable-gds`), or one with "
           "PCI P2PDMA; a container's own file system (overlay), LVM, RAID, encryption and network "
           "file systems without a vendor's support are refused, and so is a file that was not "
           "opened with O_DIRECT, and every GeForce. `NVMe : Unsupported` of gdscheck says that "
           "the disk's driver is the unpatched one.",
       .consequence = "Files go through host memory (compatibility mode), or the call fails.",
       .checks = {"gpu-capability", "iommu"},
       .fix_now =
           "`/usr/local/cuda/gds/tools/gdscheck -p`; `findmnt -T FILE`; containers: the data "
           "on a mounted volume; to go on without it: `export CUFILE_ALLOW_COMPAT_MODE=true`",
       .fix_for_good = "MLNX_OFED or DOCA-OFED with `--with-nvmf --enable-gds`, the initramfs made "
                       "anew, and a reboot.",
       .sources = {{"https://docs.nvidia.com/gpudirect-storage/troubleshooting-guide/index.html",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gds-nvidia-fs/issues/31", Stated::kSymptom},
                   {"https://github.com/NVIDIA/DALI/issues/4009", Stated::kSymptom}},
       .explains = {"gpudirect-storage"}},
      {.id = "gds-rdma",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title = "GPUDirect Storage has no RDMA from user space: harmless for local disks",
       .texts = {{"cufio-rdma:{number} nvidia_peermem.ko is not loaded"},
                 {"Disabling UserSpace RDMA access"},
                 {"No matching pair for network device to closest GPU"},
                 {"cufio-rdma{} ERROR "},
                 {"rdma_dev_addr_list && {fails}"},
                 {"libcufile_rdma.so && {fails}"}},
       .cause =
           "cuFile reaches distributed file systems by the NICs whose IP addresses stand in "
           "`rdma_dev_addr_list` of `/etc/cufile.json`, and wants `nvidia-peermem` for it. Local "
           "disks need no RDMA, so that the lines say nothing of them.",
       .consequence = "Files of WekaFS, GPFS or DDN go through host memory.",
       .checks = {"peer-memory", "rdma-nics"},
       .fix_now = "`sudo modprobe nvidia-peermem`; `grep -n rdma_dev_addr_list /etc/cufile.json`; "
                  "the addresses must be those that `ip -br addr` shows for the NICs; "
                  "`/usr/local/cuda/gds/tools/gdscheck -p`",
       .fix_for_good = "`echo nvidia-peermem | sudo tee /etc/modules-load.d/nvidia-peermem.conf`",
       .sources = {{"https://docs.nvidia.com/gpudirect-storage/configuration-guide/index.html",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gds-nvidia-fs/issues/4", Stated::kSymptom}},
       .explains = {"gpudirect-storage", "peermem-not-loaded"}},
      {.id = "spdk-transport",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "SPDK's RDMA transport was not created before the listener",
       .texts = {{"Unable to listen on transport RDMA"},
                 {"The transport must be created first"},
                 {"Unable to find {}RDMA transport"}},
       .cause =
           "A listener of type RDMA wants the transport first: the call nvmf_create_transport of "
           "that type was not made (the configuration file of an older release does not count), "
           "or failed before: its own lines say why (no NIC, too few queues or buffers, built "
           "without RDMA).",
       .consequence = "The target does not listen for RDMA.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`scripts/rpc.py nvmf_create_transport -t RDMA`; then nvmf_subsystem_add_listener; "
           "`scripts/rpc.py nvmf_get_transports`",
       .fix_for_good = "",
       .sources = {{"https://spdk.io/doc/nvmf.html", Stated::kCauseAndFix},
                   {"https://github.com/spdk/spdk/issues/1682", Stated::kSymptom}},
       .explains = {"rdma-storage", "verbs-call"}},
      {.id = "nvme-rdma-module",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The kernel has no NVMe over RDMA: its module is not loaded or not there",
       .texts = {{"/dev/nvme-fabrics && {ENOENT}"},
                 {"no handler found for transport rdma"},
                 {"nvme_rdma && Unknown symbol"},
                 {"nvme-rdma not found"},
                 {"nvme_rdma not found"},
                 {"Failed to open /dev/nvme-fabrics"}},
       .cause =
           "`nvme-rdma` (target: `nvmet-rdma`) is not loaded, or was left out of this kernel or "
           "of MLNX_OFED (which builds it only `--with-nvmf`); with an OFED of another release "
           "than the kernel's module it does not load.",
       .consequence = "`nvme connect -t rdma` and `nvme discover -t rdma` fail.",
       .checks = {"rdma-nics"},
       .fix_now = "`sudo modprobe nvme-rdma`; `sudo dmesg | tail`; target: `sudo modprobe "
                  "nvmet-rdma`; `modinfo -F filename nvme-rdma`",
       .fix_for_good = "`echo nvme-rdma | sudo tee /etc/modules-load.d/nvme-rdma.conf`; with OFED: "
                       "installed with `--with-nvmf`.",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/nvme/host/fabrics.c",
                    Stated::kCause}},
       .explains = {"rdma-storage", "module-absent"}},
      {.id = "shared-receive-queue",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "This NIC has no shared receive queues (SRQ), or not so long ones",
       .texts = {{"Unable to create SRQ"},
                 {"Unable to create shared receive queue"},
                 {"create SRQ && {fails} && {EINVAL}"},
                 {"create SRQ && {fails} && {EOPNOTSUPP}"},
                 {"shared receive queue && {fails} && {EINVAL}"},
                 {"shared receive queue && {fails} && {EOPNOTSUPP}"}},
       .cause = "iWARP, some software and cloud NICs have none (`max_srq: 0`); others have fewer "
                "entries or pieces than the program asks for.",
       .consequence = "The program stops, or uses a receive queue for each connection.",
       .checks = {"rdma-nics"},
       .fix_now = "`ibv_devinfo -v | grep max_srq`; then without them: SPDK: `scripts/rpc.py "
                  "nvmf_create_transport -t RDMA --no-srq`; or fewer entries (`--max-srq-depth "
                  "1024`); Open MPI's openib: `mpirun --mca btl_openib_receive_queues "
                  "P,65536,256,192,128 PROGRAM`",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_create_srq.3.html", Stated::kCause},
                   {"https://github.com/spdk/spdk/issues/2275", Stated::kSymptom}},
       .explains = {"queue-invalid", "queue-unsupported", "qp-not-created", "rdma-storage",
                    "verbs-call"}},
      {.id = "rdma-storage",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title = "Storage over RDMA (NVMe-oF, Lustre, SRP, iSER, NFS) has no connection",
       .texts = {general("nvme {word}: {}rdma && {fails}"),
                 general("nvme nvme{number}: {}{fails}{}connect"),
                 general("nvme nvme{number}: queue {number}{}{fails}"),
                 general("nvme nvme{number}: I/O {}timeout"),
                 general("nvme nvme{number}: Reconnecting in"),
                 general("nvme nvme{number}: Failed reconnect attempt"),
                 general("nvme nvme{number}: starting error recovery"),
                 general("nvmet_rdma: && {fails}"), general("nvme_rdma && {fails}"),
                 general("Failed to write to /dev/nvme-fabrics"),
                 general("could not add new controller"), general("o2iblnd{}{fails}"),
                 general("kiblnd_{word} && {fails}"), general("Timed out {}RDMA with"),
                 general("kiblnd_{word}()"), general("ib_srp:{}{fails}"),
                 general("scsi host{number}: ib_srp:"), general("iser: && {fails}"),
                 general("isert: && {fails}"), general("rpcrdma: && {fails}"),
                 general("xprtrdma: && {fails}"), general("svcrdma: && {fails}"),
                 general("rds: && {fails}"), general("iser: {}Connection rejected"),
                 general("isert: {}Connection rejected"),
                 general("rpcrdma: connection to {}closed"),
                 general("rpcrdma: {}is not supported by device"), general("RDS/IB: && {fails}"),
                 general("RDS/RDMA: {}rejected"), general("disconnecting and reconnecting"),
                 general("smc: && {fails}"), general("ksmbd && rdma && {fails}"),
                 general("CIFS: && rdma && {fails}"), general("smbd && {fails}"),
                 general("smb_direct: {}error"), general("verbsRdmaSend{}{fails}"),
                 general("VERBS RDMA {}error"), general("VERBS RDMA {}closed"),
                 general("VERBS RDMA {}{fails}"), general("RDMA && osd && {fails}"),
                 general("/dev/nvme-fabrics && {fails}"),
                 // SPDK.
                 last("rdma.c:{} *ERROR*"), last("rdma.c:{}***ERROR***")},
       .cause = "The other side (target, server) is gone, does not listen for RDMA, or the network "
                "between the two NICs loses packets. It shares NIC and fabric with GPUDirect RDMA, "
                "and nothing of GPU memory is concerned.",
       .consequence = "The file system or disk waits, and goes on when the connection is back.",
       .checks = {"port-state", "port-errors", "lossless", "roce-gid"},
       .fix_now =
           "`rdma link`; `sudo dmesg -T | tail -50` on both sides; `rping -c -a ADDRESS -C 3` "
           "to the server's RDMA address; `nvme discover -t rdma -a ADDRESS -s 4420`",
       .fix_for_good = "",
       .sources = {{"https://github.com/spdk/spdk/issues/257", Stated::kSymptom},
                   {"https://github.com/linux-nvme/nvme-cli/issues/3268", Stated::kSymptom}},
       .explains = {"verbs-call"}},
      {.id = "gpudirect-storage",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "GPUDirect Storage (cuFile, nvidia-fs): files and GPUs, not NICs and GPUs",
       .texts = {general("cufio{} ERROR "), general("Failed to get cuda p2p device address"),
                 general("cuFile initialization failed"), general("cuFile compat mode"),
                 general("GDS driver {}(Compatibility Mode)"), general("cuFileDriverOpen{}{fails}"),
                 general("cuFileRead returned error"), general("cuFile && {fails}"),
                 general("CU_FILE && {fails}"), general("gdsio && {fails}"),
                 general("gdsio && conflicting"), general("nvidia-fs:{}{fails}"),
                 general("nvidia_fs:{}{fails}"), general("nvidia-fs:{}invalid"),
                 general("nvidia-fs:{}aligned"), general("nvidia-fs:{}rdma version not set"),
                 general("nvfs_{word} && {fails}")},
       .cause = "The file system, NVMe driver or kernel has no support for it, `nvidia-fs` is not "
                "built or loaded, or the GPU is a GeForce. `IO failed :-512`: the request was "
                "interrupted by a signal (the program ended or was stopped), which is no fault by "
                "itself. Userspace RDMA for storage wants `nvidia-peermem` besides.",
       .consequence = "Files go through host memory (compatibility mode), or the program stops.",
       .checks = {"gpu-capability"},
       .fix_now = "`/usr/local/cuda/gds/tools/gdscheck -p`; `lsmod | grep nvidia_fs`",
       .fix_for_good = "NVIDIA's GPUDirect Storage troubleshooting guide.",
       .sources = {{"https://docs.nvidia.com/gpudirect-storage/troubleshooting-guide/index.html",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gds-nvidia-fs/issues/31", Stated::kSymptom},
                   {"https://github.com/NVIDIA/gds-nvidia-fs/issues/75", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
