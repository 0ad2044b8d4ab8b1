// Queue pairs that cannot be connected, by the error with which the NIC refuses.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& connection_symptoms() {
  static const Symptoms table = {
      {.id = "qp-timed-out",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The connection cannot be made: nobody answers at the peer's RoCE address "
                "(timed out)",
       .texts = {{"to RTR: 110{end}"},
                 general("{connect-qp} && {ETIMEDOUT}"),
                 {"ibv_create_ah && {ETIMEDOUT}"},
                 general("mutually routable"),
                 {"this error occurs when NICs are not cross-rail connected"}},
       .cause =
           "While the queue pair goes to RTR, the driver asks the network for the MAC address of "
           "the peer's GID, and nobody answered. Mostly these two NICs are on networks that do not "
           "reach each other (rails, subnets, VLANs, a cable between two hosts), and the program "
           "pairs any NIC with any other. Else the GID is link-local (fe80::) or RoCE v1 with a "
           "router between, or the peer's interface is down or lost its address.",
       .consequence = "The program fails while it connects; nothing was transferred yet.",
       .checks = {"roce-gid", "port-state"},
       .fix_now =
           "`show_gids`; `ping -I INTERFACE ADDRESS`; from the interface of the local GID to the "
           "address of the peer's. No answer: only NICs of one network together (NCCL: "
           "`NCCL_CROSS_NIC=0` and `NCCL_IB_HCA`, Mooncake: `device_name` or "
           "`MC_ENABLE_DEST_DEVICE_AFFINITY=1`, NVSHMEM: `NVSHMEM_HCA_PE_MAPPING`). A link-local "
           "GID: another index (`NCCL_IB_GID_INDEX`, `NVSHMEM_IB_GID_INDEX`, `MC_GID_INDEX`, "
           "`UCX_IB_GID_INDEX`, `UCCL_IB_GID_INDEX`, perftest `-x`)",
       .fix_for_good = "Routes between the rails, or NICs of one network for the job.",
       .sources = {{"https://github.com/NVIDIA/nccl/blob/master/src/misc/ibvwrap.cc",
                    Stated::kCause},
                   {"https://github.com/kvcache-ai/Mooncake/issues/166", Stated::kCause},
                   {"https://github.com/luxingcom/aicad-nccl-optimization/issues/1",
                    Stated::kCauseAndFix},
                   {"https://github.com/kvcache-ai/Mooncake/issues/204", Stated::kSymptom}},
       .explains = {"qp-not-connected", "wrong-gid", "kv-transfer", "work-flushed",
                    "nvshmem-no-transport", "nccl-warning"}},
      {.id = "qp-no-route",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The connection cannot be made: this NIC's interface has no route to the peer",
       .texts = {general("{connect-qp} && {ENETUNREACH}"),
                 general("{connect-qp} && {EHOSTUNREACH}")},
       .cause =
           "The kernel looks the peer's address up in the routing table of the interface to which "
           "the local GID belongs, and found no way: the address is of another subnet without a "
           "gateway, the two GIDs are of different kinds (IPv4 here, IPv6 or link-local there), or "
           "policy routing sends that source address elsewhere.",
       .consequence = "The program fails while it connects.",
       .checks = {"roce-gid"},
       .fix_now =
           "`show_gids`; `ip route get ADDRESS oif INTERFACE`; with the peer's address and the "
           "NIC's interface; then a GID index on both sides whose addresses are of one network "
           "(`NCCL_IB_GID_INDEX`, `NVSHMEM_IB_GID_INDEX`, `MC_GID_INDEX`, `UCX_IB_GID_INDEX`, "
           "perftest `-x`)",
       .fix_for_good = "A route, or a table of its own for each RoCE interface (`ip rule`).",
       .sources = {{"https://man7.org/linux/man-pages/man8/ip-route.8.html", Stated::kFix},
                   {"https://github.com/NVIDIA/nccl-tests/issues/185", Stated::kSymptom}},
       .explains = {"qp-not-connected", "wrong-gid", "kv-transfer", "work-flushed",
                    "nvshmem-no-transport", "nccl-warning"}},
      {.id = "qp-values",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title =
           "The connection's values do not fit the port: GID index, link layer or MTU (Invalid "
           "argument)",
       .texts = {{"to RTR: 22{end}"},
                 general("{connect-qp} && {EINVAL}"),
                 {"ibv_create_ah && {EINVAL}"},
                 general("{connect-qp} && {ENOENT}"),
                 {"this error occurs when the incorrect GID index is forced"},
                 general("init2rtr attrs are invalid"),
                 general("missing{}sgid_index"),
                 general("Failed to set sgid index")},
       .cause =
           "The kernel or NIC refuses what the two sides exchanged. Likeliest first: the GID index "
           "is an empty slot, or not given at all on RoCE (there `is_global` and `sgid_index` are "
           "a "
           "must); one side is InfiniBand and the other RoCE; an MTU above the port's; the peer's "
           "LID, GID or queue pair number arrived as 0.",
       .consequence = "The program fails while it connects.",
       .checks = {"roce-gid", "port-state", "mtu"},
       .fix_now =
           "`show_gids`; `ibv_devinfo | grep -E 'hca_id|link_layer|active_mtu'`; on both hosts; "
           "then the index of a RoCE v2 GID (`NCCL_IB_GID_INDEX`, which NCCL 2.21 and later finds "
           "itself where it is unset, `NVSHMEM_IB_GID_INDEX`, `MC_GID_INDEX`, `UCX_IB_GID_INDEX`, "
           "`UCCL_IB_GID_INDEX`, perftest `-x`), and NICs of one link layer (`NCCL_IB_HCA`)",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/blob/master/src/misc/ibvwrap.cc",
                    Stated::kCauseAndFix},
                   {"https://github.com/SymbioticLab/Justitia/issues/3", Stated::kCauseAndFix},
                   {"https://github.com/madsys-dev/smart/issues/2", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/302", Stated::kSymptom}},
       .explains = {"qp-not-connected", "wrong-gid", "kv-transfer", "work-flushed",
                    "nvshmem-no-transport", "nccl-warning"}},
      {.id = "qp-not-connected",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title = "Queue pairs cannot be connected (one of several causes: GID, network, link layer)",
       .texts = {fallback("Call to ibv_modify_qp failed"), fallback("{connect-qp} && {fails}"),
                 fallback("modif{}to RTR && {fails}"), fallback("{fails} && modify {word} QP"),
                 fallback("modif{}to RTS && {fails}"), fallback("change QP{word} state to RT"),
                 fallback("qp to state R2")},
       .cause =
           "The text has no error number. 110 (timed out): the two NICs' networks do not reach "
           "each "
           "other. 22 (Invalid argument): the GID index is empty or was not given on RoCE, or the "
           "link layers or MTUs differ. 101, 113: no route. 19: the interface is not in this "
           "container.",
       .consequence = "The program fails while it connects.",
       .checks = {"roce-gid", "port-state"},
       .fix_now =
           "`show_gids`; on both hosts; then a RoCE v2 GID of one network (`NCCL_IB_GID_INDEX`, "
           "`NVSHMEM_IB_GID_INDEX`, `MC_GID_INDEX`, `UCX_IB_GID_INDEX`, perftest `-x`); "
           "`ibv_rc_pingpong "
           "-d DEVICE -g INDEX`; between the same two NICs tells the NIC from the program",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html", Stated::kCause},
                   {"https://github.com/thustorage/Sherman/issues/5", Stated::kSymptom}},
       .explains = {"kv-transfer", "work-flushed", "nvshmem-no-transport", "nccl-warning"}},
      {.id = "mtu-mismatch",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The two sides of a connection use different MTUs",
       .texts = {general("hardcod && IBV_MTU_"),
                 general("MTU 1500 && path"),
                 general("configured with MTU 1500"),
                 general("more than 1024B(mtu)"),
                 general("path_mtu && mismatch"),
                 general("mixed MTU"),
                 {"different active MTU"},
                 {"active MTUs are not"},
                 {"path MTU && mismatch"},
                 {"active_mtu && mismatch"},
                 {"MTU mismatch && {rdma-word}"},
                 {"local length error", 1},
                 {"remote invalid request", 2}},
       .cause =
           "Each side sets its queue pair to the MTU of its own port. Where one port has 4096 and "
           "the other 1024 (an interface with MTU 9000 beside one of 1500), the receiver gets "
           "packets longer than it takes: local length error there, remote invalid request here. "
           "perftest negotiates the MTU, so it passes. Where the MTUs agree, the two sides differ "
           "in "
           "the size of a message and of the receive that was posted for it.",
       .consequence = "Transfers break, and the connection is set up again and again.",
       .checks = {"mtu"},
       .fix_now =
           "`ibv_devinfo | grep -E 'hca_id|active_mtu'`; on both hosts; then one value for both "
           "(Mooncake: `MC_MTU=1024`, UCX: `UCX_IB_PATH_MTU=1024`, perftest: `-m 1024`)",
       .fix_for_good = "The same MTU on both interfaces and the switches between them.",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/issues/3868", Stated::kCauseAndFix}},
       .explains = {"local-request-error", "remote-access-refused", "gpu-access-fails",
                    "post-refused", "mooncake-slice"}},
      {.id = "devx-connect",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "The NIC's firmware refuses the values of a connection (INIT2RTR_QP, RTR2RTS_QP)",
       .texts = {{"INIT2RTR_QP && syndrome"},
                 {"INIT2RTR_QP && {fails}"},
                 {"RTR2RTS_QP && syndrome"},
                 {"RTR2RTS_QP && {fails}"},
                 {"ibgda_rc_init2rtr failed"},
                 {"ibgda_rc_rtr2rts failed"}},
       .cause =
           "Programs that build their queues by direct commands (IBGDA of NVSHMEM and Mooncake) "
           "fill the address in themselves, and the firmware found a value that this port does not "
           "take: a traffic class on InfiniBand, where there is none; on RoCE an empty GID index, "
           "an address handle without a MAC, or a service level above 7.",
       .consequence = "The GPU cannot drive the NIC's queues, and the program stops.",
       .checks = {"roce-gid", "port-state"},
       .fix_now =
           "`ibv_devinfo | grep -E 'hca_id|link_layer'`; InfiniBand: `unset "
           "NVSHMEM_IB_TRAFFIC_CLASS NVSHMEM_IB_GID_INDEX`; RoCE: `NVSHMEM_IB_GID_INDEX=N` with a "
           "RoCE v2 GID (`show_gids`) and `NVSHMEM_IB_SL` unset",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nvshmem/issues/45", Stated::kCause}},
       .explains = {"nic-command-refused", "qp-values", "qp-not-connected", "nvshmem-no-transport",
                    "wrong-gid"}},
  };
  return table;
}

}  // namespace gdr::explain
