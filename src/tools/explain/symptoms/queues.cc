// Queues that cannot be created or connected, and a network that loses their packets.
#include "explain/symptoms/advice.h"
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& queue_symptoms() {
  static const Symptoms table = {
      {.id = "nic-resources",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A queue or key of the NIC could not be created: Cannot allocate memory",
       .texts =
           {{"Call to ibv_create_{}failed with error Cannot allocate memory"},
            {"ibv_create_cq({}failed: Cannot allocate memory"},
            {"ibv_create_qp({}failed: Cannot allocate memory"},
            {"async reg mr failed. status -12"},
            {"async reg mr failed. status -11"},
            {"Failed to process command {word} (opcode {number}) comp_status {number} err -12"},
            {"Can't allocate TX resources, try to decrease dcis number"},
            general("{queue} && {ENOMEM}"),
            general("{queue} && {EAGAIN}"),
            general("{queue} && {ENOSPC}"),
            general("{register} && {fails} && {EAGAIN}"),

            general("{connect-qp} && {ENOMEM}"),
            general("Failed to create memory pool && {ENOMEM}"),
            general("A process failed to create a queue pair"),
            general("{make}{}{queue-pair} && {fails} && {ENOMEM}"),
            general("{make}{}{queue-pair} && {fails} && {EAGAIN}"),
            general("{make}{}{queue-pair} && {fails} && {EBUSY}"),
            general("{make}{}{queue-pair} && {fails} && {ENOSPC}"),
            general("resize && {queue-pair} && {EAGAIN}"),
            general("resize && {queue-pair} && {ENOMEM}"),
            general("MR pool && {fails}"),
            general("device has run out of queue pairs"),
            {"SGID table is full"},
            {"RCFW: CMDQ is full"},
            {"exceed hem limt idx"},
            general("{no-room} && {nic-room} && {rdma-word}"),
            general("{no-room} && usNIC"),
            last("{rdma-word} && {ENOMEM}"),
            fallback("ib failure && {ENOMEM}"),
            general("give_pages && {fails}"),
            general("give pages && {fails}"),
            general("ICM && {fails} && {nic-driver}"),
            general("out of QPs"),
            general("max_qp exceeded"),
            general("QP limit")},
       .cause = "One of two limits. First the process's locked memory, in which queues lie. Where "
                "that is unlimited: the NIC has no queue pairs, completion queues, keys or "
                "firmware memory left, as with all-to-all over hundreds of hosts, or after "
                "programs that died without giving theirs back.",
       .consequence = "The program stops, or goes over TCP.",
       .checks = {"locked-memory"},
       .fix_now = "`ulimit -l`; `rdma resource show`; if the first is not unlimited: `ulimit -l "
                  "unlimited`; else fewer queues (NCCL: `NCCL_IB_QPS_PER_CONNECTION=1`, UCX: "
                  "`UCX_TLS` with dc), and stop what still holds some",
       .fix_for_good = kMoreLockedForGood,
       .sources = {{"https://github.com/kvcache-ai/Mooncake/pull/1765", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/1191", Stated::kSymptom},
                   {"https://github.com/openucx/ucx/issues/6264", Stated::kSymptom}},
       .explains = {"verbs-call", "openfabrics-device", "qp-not-created", "mr-refused",
                    "rdma-storage"}},
      {.id = "qp-not-created",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title = "A queue of the NIC could not be created (one of several causes)",
       .texts = {fallback("Call to ibv_create_qp failed"), fallback("Call to ibv_create_cq failed"),
                 fallback("{queue} && {fails}"), fallback("create-qp-failed"),
                 general("Couldn't get device attribute"), fallback("mlx5dv_create_qp{}failed"),
                 fallback("mlx5dv_{word} && {fails}"), fallback("{make}{}{queue-pair} && {fails}"),
                 fallback("{queue-pair}{}creation && {fails}"),
                 fallback("{fails} && create{}QP{end}"), fallback("{fails} && create{}CQ{end}")},
       .cause = "Most often the limit of locked memory, or the container's missing capability "
                "`IPC_LOCK`. Else more entries, inline data or another transport (DC, SRD) asked "
                "for than this NIC has, or a libibverbs that does not fit the kernel's driver.",
       .consequence = "The program stops, or goes over TCP.",
       .checks = {"locked-memory", "devices", "rdma-nics"},
       .fix_now = "`ulimit -l`; `ibv_rc_pingpong -d DEVICE`; it creates one of each and names the "
                  "error; containers: `docker run --cap-add IPC_LOCK --ulimit memlock=-1 --device "
                  "/dev/infiniband`",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/k8s-rdma-sriov-dev-plugin/issues/29",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/562", Stated::kSymptom},
                   {"https://github.com/NVIDIA/nccl/issues/1129", Stated::kSymptom}},
       .explains = {"openfabrics-device"}},
      {.id = "queue-invalid",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A queue was asked for with values that this NIC or its driver does not take",
       .texts = {{"Call to ibv_create_{}failed with error Invalid argument"},
                 general("{queue} && {EINVAL}"),
                 general("{queue} && {ERANGE}"),
                 general("{make}{}{queue-pair} && {fails} && {EINVAL}"),
                 general("larger than the maximum supported && {fails}"),
                 general("max_inline_data is too big"),
                 general("rq_wr is too big"),
                 general("sq_wr is too big"),
                 general("exceeds device max"),
                 general("exceeds maximum && {queue}"),
                 general("{queue} with 22{end}"),
                 general("Create QP type {word} failed"),
                 general("Unsupported QP type"),
                 general("{word} exceeds device {word} limit"),
                 general("requested {} max_send_wr && {fails}"),
                 general("max_inline_data{}{fails}"),
                 general("QP type {word} has wrong attributes"),
                 // bnxt_re, hns, mlx5_ib, irdma and rxe in the kernel's log.
                 {"Limit exceeded for Send SGEs"},
                 {"Limit exceeded for Receive SGEs"},
                 {"Inline data size requested > supported"},
                 {"QP type 0x{word} not supported"},
                 {"not support QP type {number}"},
                 {"rq depth {number} too large"},
                 {"invalid SRQ attr, depth ="},
                 {"wrong entries number {number}, max"},
                 {"max_sq_desc_sz {number}"},
                 {"wqe_cnt {number}, max_wqes {number}"},
                 {"rd_atomic = {number}, above max_hw_"},
                 {"max_dest_rd_atomic requested{number} is >"},
                 {"invalid attr, max_rd_atomic ="},
                 {"invalid attr, max_dest_rd_atomic ="},
                 {"max_wr({number}) > max_srq_wr({number})"},
                 {"max_sge({number}) > max_srq_sge({number})"},
                 general("exceeds limits({number})"),
                 general("Requested {} SGEs && {fails}"),
                 general("max_sge && {fails}"),
                 general("cq_size{}{fails}"),
                 general("cqe{}exceeds{}max_cqe")},
       .cause = "Invalid argument: more entries, pieces or inline data, or another kind of queue "
                "(DC, SRD, one in GPU memory) than the NIC has; or a libibverbs and its provider "
                "of another release than the kernel's driver, so that the two mean different "
                "things.",
       .consequence = "The program stops, or goes over TCP.",
       .checks = {"rdma-nics"},
       .fix_now = "`ibv_devinfo -v | grep -E 'max_qp_wr|max_sge|max_cqe|max_srq'`; "
                  "`ibv_rc_pingpong -d DEVICE`; where that works, the program asks for too much: "
                  "smaller queues (UCX: `UCX_RC_TX_QUEUE_LEN=128`, `UCX_TLS=rc_v,ud_v,self,sm`; "
                  "perftest: `-t 64 -r 64 -I 0`); where it fails too, libibverbs and driver do "
                  "not fit",
       .fix_for_good =
           "libibverbs with its providers and the kernel's driver of one source (both of "
           "the distribution, or both of DOCA-OFED), in containers too.",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_create_qp.3.html", Stated::kCause},
                   {"https://github.com/openucx/ucx/issues/4556", Stated::kSymptom},
                   {"https://github.com/openucx/ucx/issues/5148", Stated::kSymptom}},
       .explains = {"qp-not-created"}},
      {.id = "queue-unsupported",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The NIC or its driver does not have what the program asks for",
       .texts = {general("{queue} && {EOPNOTSUPP}"),
                 general("{queue} && {ENOSYS}"),
                 general("{make}{}{queue-pair} && {fails} && {EOPNOTSUPP}"),
                 general("{make}{}{queue-pair} && {fails} && {ENOSYS}"),
                 general("{queue} && {EPROTONOSUPPORT}"),
                 general("{queue} && {ENOTSUPP}"),
                 general("{connect-qp} && {EOPNOTSUPP}"),
                 general("{connect-qp} && {ENOSYS}"),
                 general("{query} && {EOPNOTSUPP}"),
                 general("{query} && {ENOSYS}"),
                 general("{query} && {EPROTONOSUPPORT}"),
                 {"mlx5dv_{word}{}{ENOSYS}", 0, Scope::kGeneral},
                 general("device does not support {word} && {qp-kind}"),
                 general("Device{}doesn't support {qp-kind}"),
                 general("atomics && not supported && {nic-driver}"),
                 {"support CQ resiz"},
                 {"support resizing {}CQ"},
                 general("iWARP {}n't support"),
                 general("iWARP {}not support"),
                 general("transport{}not supported by device"),
                 general("mlx5_net && not supported"),
                 general("mlx5_net && unsupported"),
                 general("mlx5_common && not supported"),
                 general("{nic-driver} && operation not supported")},
       // `gdr prove` says so of NICs on which it goes another way.
       .unless = {"the NIC offers no raw packet queue pairs"},
       .cause = "This kind of queue, operation or query is not in the NIC, or in this release of "
                "its kernel driver or of its library (a software, cloud or older NIC, an old "
                "rdma-core in the container).",
       .consequence = "What needs it stops; programs that have another way go on by it.",
       .checks = {"rdma-nics"},
       .fix_now = "`ibv_devinfo -v`; `ofed_info -s`; then the program's setting that leaves this "
                  "out (UCX: `UCX_TLS=rc_v,ud_v,sm,self`; perftest: `-c RC`)",
       .fix_for_good = "rdma-core and the kernel's driver of the same age as the program expects.",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_create_qp_ex.3.html",
                    Stated::kCause}},
       .explains = {"qp-not-created", "qp-not-connected", "wrong-gid", "nic-query"}},
      {.id = "queue-permission",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The process may not use the NIC's queues: Operation not permitted",
       .texts = {general("{queue} && {EPERM}"),
                 general("{make}{}{queue-pair} && {fails} && {EPERM}"),
                 general("{queue} && {EACCES}"), last("{rdma-word} && {EPERM}"),
                 last("{rdma-word} && {EACCES}"), general("{connect-qp} && {EPERM}"),
                 general("{connect-qp} && {EACCES}")},
       .cause = "The container lacks a capability (`IPC_LOCK`; raw packet and DEVX queues need "
                "`NET_RAW`), the rdma cgroup or SELinux forbids it, or the partition key of the "
                "queue pair is not allowed to this user.",
       .consequence = "The program stops.",
       .checks = {"devices", "locked-memory"},
       .fix_now = "`docker run --cap-add IPC_LOCK --cap-add NET_RAW --ulimit memlock=-1 --device "
                  "/dev/infiniband`; once with `--privileged`, to tell the container from the "
                  "program; `sudo ausearch -m avc -ts recent`",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/k8s-rdma-sriov-dev-plugin/issues/29",
                    Stated::kFix}},
       .explains = {"verbs-call", "qp-not-created", "qp-not-connected", "wrong-gid"}},
      {.id = "qp-init-refused",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title =
           "A queue pair cannot be set to INIT: its port or partition key (P_Key) is not valid",
       .texts = {general("{qp-init} && {fails}"), general("{qp-init} && {EINVAL}"),
                 general("modif{}to INIT && {fails}"), general("change QP{word} state to INIT"),
                 general("qp to state INIT"), general("{fails} && pkey"),
                 general("{fails} && p_key"), general("pkey && invalid"),
                 general("P_Key && invalid"), general("pkey && not found"),
                 general("invalid port number && {nic-driver}")},
       .cause = "At INIT only the port, the index of the partition key (P_Key) and access rights "
                "are given: the port number is not of this NIC, the P_Key's entry is empty (no "
                "subnet manager yet, or a partition that the port is not in), or the device is a "
                "bond of two ports of which none is up.",
       .consequence = "The program stops before it connects to anybody.",
       .checks = {"port-state"},
       .fix_now = "`ibv_devinfo -v | grep -E 'hca_id|port:|state:|pkey'`; `cat "
                  "/sys/class/infiniband/*/ports/*/pkeys/0`; it must not be 0x0000; another P_Key: "
                  "`UCX_IB_PKEY=0xffff`, `NCCL_IB_PKEY=0`; a bond: `cat /proc/net/bonding/*`, and "
                  "UCX's `UCX_TLS=rc,sm,self`",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html", Stated::kCause},
                   {"https://github.com/openucx/ucx/issues/9468", Stated::kSymptom}},
       .explains = {"qp-not-connected", "qp-values", "wrong-gid"}},
      {.id = "nic-query",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The NIC cannot be asked for its properties: library and driver do not fit",
       .texts = {{"invalid comp_mask !!!"},
                 {"error obtaining device attributes for"},
                 fallback("{query} && {fails}"),
                 general("{query} && {EINVAL}"),
                 general("{query} && {ENODEV}"),
                 general("{query} && {EIO}")},
       .cause = "libibverbs or its provider and the kernel's driver are of different releases "
                "(parts of MLNX_OFED with parts of the distribution), or the NIC was reset or "
                "removed while it was asked: dmesg shows that.",
       .consequence = "The program does not use this NIC.",
       .checks = {"rdma-nics", "nic-firmware"},
       .fix_now = "`ibv_devinfo -v`; `ofed_info -s`; `ldconfig -p | grep -E 'libibverbs|libmlx'`; "
                  "`modinfo -F filename mlx5_ib`; `sudo dmesg | tail -30`",
       .fix_for_good = "All of the distribution, or all of DOCA-OFED; then rebuild the program "
                       "against it.",
       .sources = {{"https://github.com/open-mpi/ompi/issues/5964", Stated::kSymptom}},
       .explains = {"openfabrics-device"}},
      {.id = "gid-other-namespace",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The connection cannot be made: the NIC's interface is not in this container",
       .texts = {{"{connect-qp} && {fails} && {ENODEV}"},
                 {"Call to ibv_modify_qp failed with error No such device"},
                 {"RDMA_CM_EVENT_ADDR_ERROR{}error: -19"}},
       .cause = "The RDMA device is visible in the container, but the network interface that its "
                "RoCE GID belongs to is in another network namespace.",
       .consequence = "Queue pairs are created and cannot be connected.",
       .checks = {"roce-gid"},
       .fix_now = "`ip link`; `rdma link`; in the container the interface must be in both; "
                  "`rdma system`; says whether devices are shared among namespaces",
       .fix_for_good = "`hostNetwork: true`, or an interface for the pod with its RDMA device "
                       "(network operator: SR-IOV or host-device network with the RDMA CNI). Pick "
                       "it by `UCX_NET_DEVICES` or `NCCL_IB_HCA`.",
       .sources =
           {{"https://github.com/vllm-project/aibrix/issues/1433", Stated::kSymptom},
            {"https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/342",
             Stated::kSymptom}},
       .explains = {"qp-not-connected", "qp-values", "wrong-gid"}},
      {.id = "packet-loss",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The network loses packets of RoCE: the NIC counts gaps and timeouts",
       .texts = {{"out_of_sequence:{above-zero}"},
                 {"out_of_sequence: {above-zero}"},
                 {"out_of_sequence {above-zero}"},
                 {"local_ack_timeout_err:{above-zero}"},
                 {"local_ack_timeout_err: {above-zero}"},
                 {"local_ack_timeout_err {above-zero}"},
                 {"packet_seq_err:{above-zero}"},
                 {"packet_seq_err: {above-zero}"},
                 {"packet_seq_err {above-zero}"},
                 {"roce_adp_retrans_to: {above-zero}"},
                 {"rx_discards_phy: {above-zero}"}},
       .cause = "Switches drop packets: priority flow control or ECN is off or set differently on "
                "NIC and switch, or the traffic is not in the lossless class. The counters grow "
                "from boot on: read them twice.",
       .consequence = "Transfers stall for milliseconds, and end with status 12 when it goes on.",
       .checks = {"port-errors", "lossless", "mtu"},
       .fix_now = "`gdr doctor --only port-errors,lossless`; `gdr counters`",
       .fix_for_good = "The same class on all NICs and switches: DSCP 26, priority 3, PFC and ECN "
                       "(`mlnx_qos`, `cma_roce_tos`).",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/394", Stated::kSymptom}},
       .explains = {"peer-never-answers"}},
  };
  return table;
}

}  // namespace gdr::explain
