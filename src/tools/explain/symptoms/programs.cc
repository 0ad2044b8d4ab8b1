// Programs above verbs with ways of their own to fail: TensorFlow, parameter servers, NFS-Ganesha,
// OpenSHMEM, stores of research papers.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& program_symptoms() {
  static const Symptoms table = {
      {.id = "tensorflow-verbs",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "TensorFlow's grpc+verbs: not in this build, on the wrong port, or stuck at its "
                "start",
       .texts = {general("grpc+verbs"),
                 general("grpc + verbs"),
                 {"contrib/verbs/rdma_mgr.cc{}Got "},
                 last("contrib/verbs/rdma{}Check failed")},
       .cause = "Likeliest first: the workers were not all up when the servers tried five times to "
                "connect; this TensorFlow was built without `--config=verbs` (it then goes over "
                "gRPC without a word); it takes the first port of the first NIC and GID index 0, "
                "where another one is Active or RoCE v2; or a session was made before the server, "
                "so that memory was allocated before it could be registered. The module lost its "
                "maintainer and left TensorFlow with 2.0.",
       .consequence = "Training hangs, stops or goes over TCP.",
       .checks = {"port-state", "roce-gid"},
       .fix_now = "All servers first, then the sessions; `export RDMA_DEVICE=mlx5_0 "
                  "RDMA_DEVICE_PORT=1 RDMA_GID_INDEX=3`; `ibv_devinfo | grep -E 'hca_id|state'`",
       .fix_for_good = "Horovod or MultiWorkerMirroredStrategy with NCCL, which have GPUDirect "
                       "RDMA.",
       .sources = {{"https://github.com/tensorflow/networking/tree/master/tensorflow_networking/"
                    "verbs",
                    Stated::kFix},
                   {"https://github.com/tensorflow/tensorflow/issues/11963", Stated::kCause},
                   {"https://github.com/tensorflow/tensorflow/issues/18630", Stated::kSymptom}},
       .explains = {"verbs-call", "qp-not-created", "no-active-port"}},
      {.id = "store-registry",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The registry (memcached) by which these processes find each other is not reached "
                "or empty",
       .texts = {{"Failed to publish key"},
                 {"MEMCACHED_NOTFOUND"},
                 {"Couldn't connect to memcached"},
                 {"Failed to connect to memcached"},
                 {"memcached error: "},
                 {"Counld't add server"},
                 {"Couldn't {}server to memcached"},
                 general("memcached && TIMEOUT && {fails}"),
                 general("HRD_REGISTRY_IP")},
       .cause =
           "Programs of RDMA research (HERD, FaSST, Sherman, Clover and others) exchange queue "
           "pair numbers through a memcached. It does not run at the address and port that "
           "they are built with, listens on 127.0.0.1 only, is behind a firewall, or holds "
           "keys of an earlier run.",
       .consequence = "The program waits; no RDMA has been tried yet.",
       .checks = {},
       .fix_now =
           "`echo stats | nc REGISTRY 11211`; from each host; `memcached -l 0.0.0.0 -p 11211 "
           "-u nobody -d`; `export HRD_REGISTRY_IP=ADDRESS`; restart it before each run",
       .fix_for_good = "",
       .sources = {{"https://github.com/efficient/rdma_bench/blob/master/README.md", Stated::kFix},
                   {"https://github.com/efficient/rdma_bench/issues/11", Stated::kSymptom}},
       .explains = {"verbs-call"}},
      {.id = "ganesha-rdma",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "NFS-Ganesha has no usable NFS over RDMA: use the kernel's NFS server",
       .texts = {general("ganesha && RDMA"),
                 {"undefined reference to 'rpc_rdma_"},
                 {"Unknown Token: RDMA"},
                 {"rpc_rdma_{word}() && {fails}"},
                 {"rpc_rdma_pd_by_verbs() cm_id missing verbs"}},
       .cause =
           "Its RDMA was written for NFSv3, broke with 2.6 and was not maintained until it was "
           "begun anew in 6; builds need `USE_NFS_RDMA=ON` in ganesha and in ntirpc alike.",
       .consequence = "Mounts with `rdma` fail or hang.",
       .checks = {},
       .fix_now = "The kernel's server: `sudo modprobe rpcrdma`; `echo rdma 20049 | sudo tee "
                  "/proc/fs/nfsd/portlist`; client: `sudo mount -t nfs -o vers=4.2,proto=rdma,"
                  "port=20049 SERVER:/export /mnt`",
       .fix_for_good = "`rdma=y` and `rdma-port=20049` in the section nfsd of /etc/nfs.conf.",
       .sources = {{"https://github.com/nfs-ganesha/nfs-ganesha/issues/674", Stated::kCause},
                   {"https://github.com/nfs-ganesha/nfs-ganesha/issues/1242", Stated::kSymptom}},
       .explains = {"rdma-storage", "verbs-call", "rdma-headers-absent", "nfs-rdma"}},
      {.id = "nfs-rdma",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "NFS over RDMA: the server does not listen for RDMA, or the module is not loaded",
       .texts = {{"mount.nfs && Protocol error", 1},
                 {"mount.nfs && {ECONNREFUSED}", 1},
                 {"mount.nfs && {EPROTONOSUPPORT}", 1},
                 {"mount.nfs && {EINVAL}", 1},
                 {"requested NFS version or transport protocol is not supported", 1},
                 {"mount -t nfs{}failed", 1},
                 {"rdma,port=", 2},
                 {"proto=rdma", 2},
                 {"port=20049", 2},
                 {"rpcrdma: {}not {}listen"},
                 {"rpcrdma: {}connection refused"}},
       .cause = "Likeliest first: nfsd was not told to listen for RDMA (port 20049), or was "
                "restarted since; `rpcrdma` is not loaded on one side (MLNX_OFED leaves it out "
                "unless `mlnx-nfsrdma` is installed); the server's address is not that of its RDMA "
                "NIC; the mount came before the interface at boot.",
       .consequence = "The mount fails, and works over TCP.",
       .checks = {"rdma-nics"},
       .fix_now =
           "On both: `sudo modprobe rpcrdma`; server: `cat /proc/fs/nfsd/portlist`; must "
           "list rdma 20049: `echo rdma 20049 | sudo tee /proc/fs/nfsd/portlist`; `rping -s` "
           "there and `rping -c -a SERVER -C 3` here",
       .fix_for_good = "`rdma=y` in the section nfsd of /etc/nfs.conf; `_netdev` in /etc/fstab; "
                       "OFED: `sudo apt-get install mlnx-nfsrdma-dkms`.",
       .sources = {{"https://docs.kernel.org/admin-guide/nfs/nfs-rdma.html", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/deepops/issues/1189", Stated::kSymptom}},
       .explains = {"rdma-storage", "verbs-call"}},
      {.id = "shmem-heap",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "OpenSHMEM cannot make its symmetric heap: its address, its size or its memory",
       .texts = {{"memheap_base_segment_setup() Failed"},
                 {"Failed to setup base segment address"},
                 {"Failed to negotiate base segment addres"},
                 {"Failed to create segment address"},
                 {"memheap_base_{word}{}failed"},
                 {"sshmem: && {fails}"},
                 {"No available spml components"},
                 {"shmem_internal_heap_{word}{}fail"},
                 {"Symmetric heap && {fails}"},
                 {"SHMEM_SYMMETRIC_SIZE && {fails}"},
                 {"SHMEM_SYMMETRIC_HEAP_SIZE && {fails}"}},
       .cause = "The heap lies at one address in all processes. Something else is there in one of "
                "them (address randomisation, another library), the size is more than memory or "
                "the limit of locked memory allows, or no transport of UCX (spml ucx) is left that "
                "reaches the other processes.",
       .consequence = "shmem_init fails.",
       .checks = {"locked-memory"},
       .fix_now = "`export SHMEM_SYMMETRIC_SIZE=256M`; `ulimit -l`; another way of making it: "
                  "`oshrun --mca sshmem sysv PROGRAM`; without randomisation: `setarch -R PROGRAM`",
       .fix_for_good = "",
       .sources = {{"https://docs.open-mpi.org/en/main/man-openshmem/man3/OpenSHMEM.3.html",
                    Stated::kSymptom},
                   {"https://github.com/open-mpi/ompi/issues/13698", Stated::kSymptom}},
       .explains = {"ucx-call", "mpi-network"}},
      {.id = "unchecked-call",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title = "The program crashed in or after a call of verbs: mostly one before it had failed "
                "and nobody looked",
       .texts = {last("Segmentation fault && {rdma-word}"),
                 last("segfault && {rdma-word}"),
                 {"SIGSEGV", 1, Scope::kLast},
                 {"Segmentation fault", 1, Scope::kLast},
                 {" in ibv_{word} (", 2, Scope::kLast},
                 {"ibv_qp_to_qp_ex (", 2, Scope::kLast},
                 {"ibv_{word} () from", 2, Scope::kLast},
                 {" in mlx5_{word} (", 2, Scope::kLast},
                 {" in rdma_{word} (", 2, Scope::kLast},
                 {"rdma_{word} () from", 2, Scope::kLast},
                 {"on two RDMA-connected", 2, Scope::kLast}},
       .cause = "Likeliest first: a call returned NULL or an error and its result was used (no NIC "
                "opened, a NIC whose node GUID is zero, no protection domain, a queue pair that "
                "was not created); an object was used after it was destroyed, or by two threads "
                "while it was destroyed; a structure was not cleared before use.",
       .consequence = "The program ends.",
       .checks = {"rdma-nics", "locked-memory"},
       .fix_now =
           "`gdb --args PROGRAM`; then `run` and `bt`: the first frame of the program's own; "
           "`ibv_devinfo`; `ulimit -l`; `rping -s` and `ibv_rc_pingpong -d DEVICE -g 0`: "
           "these check each call and name the one that fails",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/pull/100", Stated::kCause},
                   {"https://github.com/jcxue/RDMA-Tutorial/issues/12", Stated::kSymptom}},
       .explains = {"verbs-call"}},
      {.id = "stale-registration",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "A cached registration outlived its memory: the NIC reads or writes the old pages",
       .texts = {general("stale registration"), general("stale data in fi_read"),
                 general("stale && memory registration"), general("stale && registration cache"),
                 general("registration is only marked as stale"), general("memhooks && corruption"),
                 general("memory hooks && corruption"), general("re-register && stale"),
                 general("registration cache && corruption"),
                 general("registration cache && wrong data"), general("rcache && stale"),
                 general("MR cache && corruption"), general("MR cache && stale"),
                 general("rcache/grdma")},
       .cause = "Libraries keep registrations for the next transfer and must be told when the "
                "program gives memory back (`munmap`, `free`, `cudaFree`). They watch these calls; "
                "where two libraries watch in one process (Open MPI and libfabric), the allocator "
                "is another one, or the program is static, one of them hears nothing. New memory "
                "at the same address then still leads to the old pages.",
       .consequence = "Wrong data without an error, or remote access errors.",
       .checks = {},
       .fix_now = "To confirm, without the cache: `export FI_MR_CACHE_MAX_COUNT=0`; UCX: `export "
                  "UCX_IB_RCACHE_MAX_REGIONS=0`; Open MPI: `mpirun --mca mpi_leave_pinned 0 "
                  "PROGRAM`; then a better watch: `export FI_MR_CACHE_MONITOR=userfaultfd`, newer "
                  "libraries, or one of the two libraries less",
       .fix_for_good = "",
       .sources = {{"https://github.com/ofiwg/libfabric/pull/6474", Stated::kCauseAndFix},
                   {"https://github.com/ofi-cray/libfabric-cray/issues/1350", Stated::kFix}},
       .explains = {"wrong-data", "verbs-call", "ucx-memory-events"}},
      {.id = "wrong-data",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title = "Transfers end well and the data that arrived is wrong",
       .texts = {{"VALIDATION: FAILED"},
                 {"data validation failed in iov element"},
                 {"data validation failed at offset"},
                 {"data verification failed byte"},
                 {"rping && data mismatch"},
                 {"src and dst buffers do not match"},
                 {"invalid data in page {number}"},
                 general("data corruption && {rdma-word}"),
                 general("data mismatch && {rdma-word}"),
                 general("wrong data && {rdma-word}")},
       .cause = "Likeliest first: the reader looked before the completion, or polls the last byte "
                "of memory that the NIC may write in any order (relaxed ordering, adaptive "
                "routing, GPU memory without a flush); the buffer was reused or given back too "
                "early, or its registration was cached and stale; with GPUs: ACS or the IOMMU "
                "redirects peer-to-peer writes; last, bad memory or a firmware's defect.",
       .consequence = "Results are wrong although nothing fails.",
       .checks = {"acs", "iommu", "nic-firmware"},
       .fix_now = "`gdr prove --require-hardware`; checks every byte of each path on its own; "
                  "`ib_write_bw --disable_pcie_relaxed` on both sides, NCCL: "
                  "`NCCL_IB_PCI_RELAXED_ORDERING=0`; UCX without its cache: "
                  "`UCX_IB_RCACHE_MAX_REGIONS=0`",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/cuda/gpudirect-rdma/index.html", Stated::kCause},
                   {"https://github.com/linux-rdma/perftest/blob/master/src/perftest_resources.c",
                    Stated::kSymptom}},
       .explains = {"verbs-call"}},
      {.id = "map-count",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The process has as many memory mappings as the kernel allows (vm.max_map_count)",
       .texts = {general("max_map_count && {ENOMEM}"), general("max_map_count && exhaust"),
                 general("max_map_count && {fails}"), general("max_map_count && limit"),
                 general("exhausts vm.max_map_count")},
       .cause = "Each registration after `ibv_fork_init` splits mappings (MADV_DONTFORK), and "
                "allocators of GPU programs make many as well. At 65530 the kernel answers every "
                "further one with Cannot allocate memory, though memory and locked memory are "
                "there.",
       .consequence = "Registrations and queues fail with error 12.",
       .checks = {"locked-memory"},
       .fix_now = "`wc -l /proc/PID/maps`; `sudo sysctl -w vm.max_map_count=1048576`; Linux 5.12 "
                  "and rdma-core 35 or later without `ibv_fork_init` (`unset RDMAV_FORK_SAFE "
                  "IBV_FORK_SAFE`)",
       .fix_for_good = "`vm.max_map_count = 1048576` in `/etc/sysctl.d/90-map-count.conf`; fewer, "
                       "larger regions that stay registered.",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/pull/3660", Stated::kCauseAndFix}},
       .explains = {"nic-resources", "locked-memory", "qp-not-created", "verbs-call"}},
      {.id = "rdma-cm-private-data",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "More private data is sent with a connection than InfiniBand's connection manager "
                "takes",
       .texts = {general("private data && {cm-call}"), general("bytes of private data"),
                 general("private_data_len && {fails}"), general("private data && too"),
                 general("private data length && {fails}")},
       .cause =
           "`rdma_connect` carries 56 bytes of the program's own on InfiniBand and RoCE (92 are "
           "in the message, 36 of which rdma_cm takes), 196 in the answer; iWARP carries 512. "
           "What is longer is refused with Invalid argument, or the peer finds it cut off.",
       .consequence = "The connection is not made on this kind of NIC.",
       .checks = {},
       .fix_now =
           "In the program: at most 56 bytes with the request, the rest in the first message",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/rdma_connect.3.html", Stated::kCause},
                   {"https://github.com/ovis-hpc/ldms/pull/2276", Stated::kCauseAndFix}},
       .explains = {"rdma-cm", "verbs-call"}},
  };
  return table;
}

}  // namespace gdr::explain
