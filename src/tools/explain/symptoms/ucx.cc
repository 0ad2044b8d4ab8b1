// UCX: what it is told, what its two sides must share, and what it says of RoCE and CUDA.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& ucx_symptoms() {
  static const Symptoms table = {
      {.id = "ucx-gid",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "UCX cannot connect with the GID that it took: another index reaches the peer",
       .texts = {{"UCX ERROR ibv_create_ah("},
                 {"UCX ERROR{}ibv_create_ah && {fails}"},
                 {"UCX ERROR{}to RTR && {EINVAL}"},
                 {"UCX ERROR{}to RTR && {ETIMEDOUT}"},
                 {"UCX ERROR{}to RTR && {ENETUNREACH}"},
                 {"UCX ERROR{}to RTR && {EHOSTUNREACH}"},
                 {"UCX ERROR{}qp state to RTR"},
                 {"UCX ERROR{}ibv_query_gid && {fails}"},
                 {"UCX ERROR{}invalid gid"},
                 {"UCX ERROR{}gid index && {fails}"},
                 {"UCX WARN{}gid index && {fails}"},
                 {"UCX ERROR{}failed to parse gid type"},
                 {"UCX ERROR{}failed to detect gid"}},
       .cause =
           "RoCE: `sgid_index` in the line is the GID of this side and `dgid` the peer's. They are "
           "of different subnets or RoCE versions, the index is an empty or link-local (fe80) "
           "slot, or the peer's address has no answer on this interface. UCX takes an index by "
           "itself unless `UCX_IB_GID_INDEX` names one, and takes every NIC unless "
           "`UCX_NET_DEVICES` does.",
       .consequence = "The job stops while it connects.",
       .checks = {"roce-gid", "port-state"},
       .fix_now = "`show_gids`; on both hosts: `export UCX_IB_GID_INDEX=3`; with the index of the "
                  "RoCE v2 GID that has the IPv4 address; `export UCX_NET_DEVICES=mlx5_0:1`; with "
                  "the NIC whose address the peer reaches; `ping -I INTERFACE PEER`",
       .fix_for_good = "",
       .sources = {{"https://github.com/openucx/ucx/issues/7785", Stated::kFix},
                   {"https://github.com/open-mpi/ompi/issues/9881", Stated::kSymptom}},
       .explains = {"wrong-gid", "ucx-call", "ucx-peer-lost", "mpi-network"}},
      {.id = "ucx-ud-timeout",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "UCX's datagrams get no answer from the peer (UD endpoint timeout)",
       .texts = {{"UD endpoint {}timeout"},
                 {"unhandled timeout error"},
                 {"ud_ep.c:{}Fatal: {}timeout"},
                 {"ud_ep.c{}timeout error"},
                 {"Error Endpoint timeout was not handled"},
                 {"transport error: Endpoint timeout"}},
       .cause =
           "UCX makes its connections by UD, and resent packets for half a minute in vain. At the "
           "start: RoCE GIDs of the two sides do not reach each other (the tables differ between "
           "hosts, so that one index is not the same address), a firewall drops UDP port 4791, "
           "or a NIC that is cabled elsewhere was taken. Later, at many ranks: packets are lost "
           "(a RoCE network that is not lossless), or the peer has died or is stopped.",
       .consequence = "The job stops.",
       .checks = {"roce-gid", "port-state", "lossless", "port-errors"},
       .fix_now =
           "`show_gids`; on both hosts; then `export UCX_IB_GID_INDEX=3`; with an index that is "
           "the same kind of address on both; `export UCX_NET_DEVICES=mlx5_0:1`; `ib_send_bw -c "
           "UD` between the two hosts; without UD: `UCX_TLS=rc,self,sm`",
       .fix_for_good = "A lossless class (PFC or ECN) on NICs and switches.",
       .sources = {{"https://github.com/openucx/ucx/issues/7785", Stated::kCauseAndFix},
                   {"https://github.com/openucx/ucx/issues/2501", Stated::kFix}},
       .explains = {"ucx-call", "ucx-peer-lost", "mpi-network", "nixl-error"}},
      {.id = "ucx-roce-route",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "UCX leaves this NIC out: the host's routes do not lead to the peer by it",
       .texts = {{"unreachable: no route to"},
                 {"no route to {word} from {word} (idx"},
                 {"not reachable{}no route to"},
                 {"mlx5_{word}:{} no route to"},
                 {"no matching routes for {}iface"},
                 {"UCX_IB_ROCE_REACHABILITY_MODE"}},
       .cause =
           "UCX 1.19 and later asks the kernel's routing table whether the peer's RoCE address is "
           "reached by the NIC's own interface. With several NICs in one subnet, with routes "
           "that name another interface, in a container, or where switches route without the "
           "hosts knowing, it finds none although packets would arrive.",
       .consequence = "The NIC is not used for this peer: another one, TCP, or no transport.",
       .checks = {"roce-gid", "rdma-nics"},
       .fix_now =
           "`ip route get PEER from ADDRESS oif INTERFACE`; where the network reaches it all "
           "the same: `export UCX_IB_ROCE_REACHABILITY_MODE=all`",
       .fix_for_good = "A route to the peers' networks by each NIC's interface (a table for each, "
                       "by `ip rule`).",
       .sources = {{"https://github.com/openucx/ucx/pull/10841", Stated::kFix},
                   {"https://github.com/openucx/ucx/issues/10996", Stated::kSymptom}},
       .explains = {"ucx-unreachable", "ucx-call", "nixl-error"}},
      {.id = "ucx-net-device",
       .program = Program::kMpi,
       .certainty = Certainty::kCertain,
       .title = "UCX_NET_DEVICES names a device that UCX does not find here",
       .texts = {{"is not enabled, enable it in UCX_NET_DEVICES"},
                 {"which was not present during UCP initialization"},
                 {"network device{}not available, please use one or more of"},
                 {"network devices '{}are not available, please use one or more of"},
                 {"device '{word}' is not available, please use one or more of"},
                 {"devices '{}are not available, please use one or more of"},
                 {"UCX WARN network device{}not available"},
                 {"none of the devices{}UCX_NET_DEVICES"}},
       .cause =
           "The line lists the devices that UCX has. The name is written without its port "
           "(`mlx5_0:1`), is that of another host's NIC, or the list has only network interfaces "
           "(eth0, lo): then UCX was built without verbs, lacks `libuct_ib` beside it, or the "
           "NIC's port is down or not in this container.",
       .consequence = "The NIC is not used; with nothing else allowed the program stops.",
       .checks = {"rdma-nics", "devices", "port-state", "mpi-ucx"},
       .fix_now = "`ucx_info -d | grep -E 'Transport|Device'`; `ibv_devinfo | grep -E "
                  "'hca_id|state'`; then `UCX_NET_DEVICES` with a name of that list, or unset",
       .fix_for_good = "",
       .sources = {{"https://openucx.readthedocs.io/en/master/faq.html", Stated::kCause},
                   {"https://github.com/openucx/ucx/blob/master/src/ucp/core/ucp_context.c",
                    Stated::kCause}},
       .explains = {"ucx-transport-absent", "no-rdma-device", "ucx-call", "ucx-unreachable"}},
      {.id = "ucx-two-releases",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "The two sides run different releases or settings of UCX and do not understand "
                "each other",
       .texts = {{"endpoint reconfiguration not supported yet"},
                 {"asymmetric endpoint configuration is not supported"},
                 {"no remote ep address for lane"},
                 {"failed to unpack address, "},
                 {"failed to parse address: "},
                 {"address contains undefined bytes"},
                 {"sa_data_v{number} contains unsupported"},
                 {"unsupported sa_data version"},
                 {"incompatible UCP Active Message routines"},
                 {"API does not support rendezvous protocol, the sender side"},
                 {"failed to unpack remote key from remote md"},
                 {"remote key unpack failed"},
                 {"UCP Active Message was received with id : {number}, but there is no"}},
       .cause = "What one side packs (addresses, keys, headers) the other cannot read: another "
                "release of UCX (an image, wheel or module of its own on one host), or another "
                "`UCX_TLS` or error-handling mode on one side. UCX 1.16 does so by itself where "
                "hosts with "
                "several interfaces talk over TCP (`no remote ep address for lane`).",
       .consequence = "The two sides do not connect.",
       .checks = {"mpi-ucx"},
       .fix_now =
           "`ucx_info -v`; on both sides, in the environment of the job: "
           "`UCX_LOG_LEVEL=info` prints which library was loaded; the same `UCX_*` "
           "variables for both; UCX 1.16 over TCP: a newer release, or `export UCX_PROTO_ENABLE=n`",
       .fix_for_good = "One UCX for all hosts of the job.",
       .sources = {{"https://github.com/openucx/ucx/blob/master/src/ucp/wireup/address.c",
                    Stated::kCause}},
       .explains = {"ucx-call", "mpi-network", "nixl-error"}},
      {.id = "ucx-cuda-context",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "UCX was called by a thread that has no CUDA context",
       .texts = {{"no cuda context bound to calling thread"},
                 {"no active cuda primary context"},
                 {"failed to set cuda context for system device"},
                 {"failed to get cuda device for system device"},
                 {"failed to query cuda context for"},
                 {"UCX ERROR {}cuCtxGetDevice{}invalid device context"},
                 {"UCX {}cuda{}CUDA_ERROR_INVALID_CONTEXT"},
                 {"UCX {}cuda{}invalid device context"}},
       .cause =
           "CUDA's current device belongs to a thread. The thread that runs MPI or UCX has not "
           "called `cudaSetDevice` (a progress thread, MPI_Init before the first CUDA call), "
           "or uses another GPU than the one that the memory is of.",
       .consequence = "UCX does not see that the buffer is GPU memory, or cannot copy it.",
       .checks = {"gpus"},
       .fix_now = "In the program: `cudaSetDevice` (or `cudaFree(0)`) in the thread that "
                  "communicates, before `MPI_Init` or `ucp_init`; for one GPU a process: "
                  "`CUDA_VISIBLE_DEVICES` by the local rank",
       .fix_for_good = "",
       .sources = {{"https://openucx.readthedocs.io/en/master/faq.html", Stated::kCause},
                   {"https://github.com/openucx/ucx/blob/master/src/uct/cuda/base/cuda_iface.c",
                    Stated::kCause}},
       .explains = {"ucx-call", "mpi-network", "cuda-error"}},
      {.id = "ucx-shared-memory",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "UCX cannot get shared memory of this host: no NIC is involved",
       .texts = {{"please check shared memory limits by 'ipcs -l'"},
                 {"Please check that /dev/shm or the directory you specified"},
                 {"mm_posix.c{}{fails}"},
                 {"mm_sysv.c{}{fails}"},
                 {"mm_xpmem.c{}{fails}"},
                 {"shmat(shmid={}failed"},
                 {"shmget({}failed"},
                 {"Caught signal 7 (Bus error"},
                 {"Signal code: Non-existant physical address"},
                 {"Signal code: Nonexistent physical address"}},
       .cause = "`/dev/shm` is full or too small (64 MiB in a container), the limits of System V "
                "shared memory are reached, or the two processes are in containers that do not "
                "share it (`--ipc`), or of different users.",
       .consequence = "Processes of one host do not reach each other; UCX takes another way or "
                      "stops.",
       .checks = {},
       .fix_now = "`df -h /dev/shm`; `ipcs -l`; `docker run --shm-size=8g --ipc=host`; without it: "
                  "`UCX_TLS=rc,cuda_copy,self`",
       .fix_for_good = "",
       .sources = {{"https://openucx.readthedocs.io/en/master/running.html", Stated::kFix}},
       .explains = {"ucx-call", "hugepages"}},
      {.id = "ucx-settings",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "A UCX_ variable has a value that this UCX does not take",
       .texts = {{"exceeded transports/devices limit"},
                 {"UCX ERROR Invalid value for {word}: '"},
                 {"UCX ERROR{}Failed to read {word} config"},
                 {"UCX ERROR{}invalid value for"},
                 {"The TLs list is empty"},
                 {"The device lists are empty"}},
       .cause = "The line names the variable and the value. It is empty, misspelt, or of another "
                "release of UCX; `/etc/ucx/ucx.conf` and a module or image may set it too.",
       .consequence = "UCX does not start.",
       .checks = {"mpi-ucx"},
       .fix_now = "`ucx_info -caf | grep NAME`; lists each variable with the values that it "
                  "takes; `env | grep UCX_`; then unset it",
       .fix_for_good = "",
       .sources = {{"https://openucx.readthedocs.io/en/master/faq.html", Stated::kSymptom}},
       .explains = {"ucx-call"}},
      {.id = "ucx-memory-events",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "UCX is not told when memory is given back: its cached registrations may be stale",
       .texts = {{"UCX is unable to handle VM_UNMAP event"},
                 {"memory hooks are not installed"},
                 {"data corruption might occur when using registered memory"},
                 {"failed to install memory hooks"}},
       .cause = "UCX watches `munmap` and the like to drop registrations of memory that is gone. "
                "Here its hooks do not take effect: UCX 1.6.0 (of MLNX_OFED 4.6) had a fault, or "
                "another library or a static program brings its own allocator.",
       .consequence = "Slower, since registrations are not kept; rarely wrong data.",
       .checks = {"mpi-ucx"},
       .fix_now = "`ucx_info -v`; UCX 1.6.1 or later; meanwhile `mpirun --mca "
                  "opal_common_ucx_opal_mem_hooks 1 PROGRAM`",
       .fix_for_good = "",
       .sources = {{"https://github.com/open-mpi/ompi/issues/7009", Stated::kCauseAndFix}},
       .explains = {"ucx-call", "rdma-fork"}},
      {.id = "ucx-assertion",
       .program = Program::kMpi,
       .certainty = Certainty::kPossible,
       .title = "UCX stopped at an assertion of its own",
       .texts = {{"too many ep configurations:"},
                 {"too many rkey configurations:"},
                 general("UCX Assertion '"),
                 general("UCX Fatal: "),
                 general("UCX FATAL Assert")},
       .cause = "What is asserted stands in quotes; the file before it says which part: ud_, rc_, "
                "dc_, ib_ are the NIC's transports (a NIC or driver with less than UCX expects), "
                "eager, rndv, wireup the protocol (two releases of UCX in one job, memory that was "
                "freed too early), cuda_ the GPU. Many are defects that a later UCX does not have.",
       .consequence = "The process ends.",
       .checks = {"mpi-ucx", "nic-firmware"},
       .fix_now = "`ucx_info -v`; on each host; the newest UCX; meanwhile without that transport: "
                  "`UCX_TLS=^ud`, `UCX_TLS=rc,self,sm` or `UCX_TLS=tcp,self,sm`",
       .fix_for_good = "",
       .sources = {{"https://github.com/openucx/ucx/issues/3336", Stated::kSymptom}},
       .explains = {"ucx-call", "library-crash"}},
  };
  return table;
}

}  // namespace gdr::explain
