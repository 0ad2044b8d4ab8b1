// What a program does wrong with verbs: requests, rights, states and queues that do not fit.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& misuse_symptoms() {
  static const Symptoms table = {
      {.id = "post-queue-full",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The queue is full: the program posts more than it has fetched completions for "
                "(error 12)",
       .texts = {general("{post} && {ENOMEM}"),
                 general("SQ overflow"),
                 general("WQ overflow"),
                 general("send queue {}full"),
                 general("send queue is full"),
                 general("send queue overflow"),
                 general("receive queue is full"),
                 {"Fail to ibv_post_send: Cannot allocate memory"}},
       .cause =
           "Error 12 of `ibv_post_send` and `ibv_post_recv` is about the queue, not about memory. "
           "Likeliest first: more requests are under way than `max_send_wr`; an entry is free "
           "again only when a completion of it, or of a later request, was polled, so requests "
           "without `IBV_SEND_SIGNALED` need a signaled one in every `max_send_wr`. With mlx5 also "
           "more pieces than `max_send_sge`, or more inline data than `max_inline_data`. A queue "
           "pair in its error state fills up as well: then a completion with an error came before.",
       .consequence = "This request is not sent.",
       .checks = {},
       .fix_now = "In the program: signal at least every half queue and poll until that completion "
                  "comes before posting on; a longer queue (`max_send_wr`) and a completion queue "
                  "that holds all of it; the first completion with an error, if there is one",
       .fix_for_good = "",
       .sources = {{"https://github.com/uccl-project/uccl/issues/267", Stated::kCause},
                   {"https://man7.org/linux/man-pages/man3/ibv_post_send.3.html", Stated::kCause},
                   {"https://github.com/spdk/spdk/issues/3195", Stated::kSymptom}},
       .explains = {"post-refused", "nic-error-completion", "verbs-call", "nic-resources"}},
      {.id = "post-values",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A request is not one that this queue pair takes: state, operation, pieces or "
                "inline data (error 22)",
       .texts = {general("{post} && {EINVAL}"), general("{post} && EINVALID"),
                 general("{post} && error 22")},
       .cause =
           "Likeliest first: the queue pair is not connected yet (sends need RTS, receives INIT) "
           "or was reset; the operation is not one of its type (RDMA on UD, atomics on UC) or of "
           "this driver (immediate data, invalidate, memory windows on a software or older NIC); "
           "more pieces than `max_send_sge`, or more inline data than `max_inline_data`; a "
           "datagram without address handle; send flags or a list (`next`) that were never set to "
           "0.",
       .consequence = "This request and those behind it in the list are not sent.",
       .checks = {"rdma-nics"},
       .fix_now =
           "In the program: clear the whole `ibv_send_wr` before it is filled in; compare with "
           "what `ibv_create_qp` wrote back into `cap`; `ibv_query_qp` must say RTS; `bad_wr` "
           "names the request; `ibv_rc_pingpong` and `ib_write_bw` between the same NICs tell the "
           "program from the driver",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_post_send.3.html", Stated::kCause},
                   {"https://github.com/SoftRoCE/librxe-dev/issues/15", Stated::kSymptom}},
       .explains = {"post-refused", "nic-error-completion", "verbs-call"}},
      {.id = "queue-inline",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "More inline data is asked for than this NIC has (max_inline_data)",
       .texts = {{"invalid max inline data ="},
                 general("max_inline_data{}too {word}"),
                 general("max_inline_data{}only"),
                 general("inline size {}too"),
                 general("inline data {}too"),
                 {"max_inline_data", 1},
                 {"inline value", 1},
                 {"Unable to create QP", 2},
                 {"Failed to create QP", 2},
                 {"ibv_create_qp && {EINVAL}", 2},
                 {"Couldn't create IB resources", 2}},
       .cause = "Queue pairs are created with room for inline data, and each NIC and type of queue "
                "pair has its own most: some hundred bytes on ConnectX, 100 on Intel E810, 32 on "
                "EFA, none on others. No call tells the limit; `ibv_create_qp` fails with Invalid "
                "argument.",
       .consequence = "The queue pair is not created.",
       .checks = {"rdma-nics"},
       .fix_now = "`ib_write_lat -I 0`; perftest without inline data, or with a smaller one; "
                  "libfabric: `FI_VERBS_INLINE_SIZE=0`; UCX: `UCX_RC_TX_MIN_INLINE=0 "
                  "UCX_UD_TX_MIN_INLINE=0`; in a program: try smaller values of "
                  "`max_inline_data` until the call succeeds",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/issues/139", Stated::kCauseAndFix},
                   {"https://github.com/ofiwg/libfabric/pull/3790", Stated::kCause}},
       .explains = {"qp-not-created", "queue-invalid", "nic-query", "verbs-call"}},
      {.id = "qp-rts-values",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title =
           "A queue pair cannot go from RTR to RTS: reads, timeout or retries that it does not "
           "take",
       .texts = {{"{connect-qp} && RTS && {EINVAL}"},
                 {"RTR2RTS && {EINVAL}"},
                 {"RTR -> RTS{}{EINVAL}"},
                 {"RTR->RTS{}{EINVAL}"},
                 {"RTR to RTS && {EINVAL}"}},
       .cause =
           "At RTS only this side's sending is set: `max_rd_atomic` above what this NIC has "
           "(`max_qp_init_rd_atom`), a timeout above 31, retry counts above 7, one of these not "
           "named in the mask, or a queue pair that never reached RTR. Address and GID were "
           "taken before.",
       .consequence = "The program can receive and not send.",
       .checks = {"rdma-nics"},
       .fix_now = "`ibv_devinfo -v | grep rd_atom`; in the program: `max_rd_atomic` at most that, "
                  "`timeout` 14, `retry_cnt` and `rnr_retry` 7, and all five attributes in the "
                  "mask; the result of the step to RTR must be checked first",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html", Stated::kCause},
                   {"https://github.com/waltligon/orangefs/issues/43", Stated::kSymptom}},
       .explains = {"qp-values", "qp-not-connected", "wrong-gid", "verbs-call"}},
      {.id = "qp-state-order",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A queue pair is taken through its states in an order that the driver refuses",
       .texts = {general("invalid qp state transition"), general("invalid state transition"),
                 general("invalid attribute mask"), general("ib_modify_qp_is_ok"),
                 general("illegal qp state"), general("wrong qp state"),
                 general("QP is not in RTS"), general("QP not in RTS"),
                 general("QP is not in RTR")},
       .cause =
           "RESET, INIT, RTR, RTS is the only way, and each step wants its own attributes in "
           "the mask, no more and no fewer. Drivers differ in what they let pass: irdma (Intel "
           "E810) refuses INIT after a step from RESET to RESET, which mlx5 takes.",
       .consequence = "The queue pair is not connected. Network, GID and P_Key are not concerned.",
       .checks = {},
       .fix_now =
           "In the program: no step to RESET for a new queue pair; the masks of each step as "
           "in `ibv_modify_qp`'s manual page; Mooncake: a release with that step removed",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/pull/721", Stated::kCauseAndFix},
                   {"https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html", Stated::kCause}},
       .explains = {"qp-init-refused", "qp-values", "qp-not-connected", "wrong-gid", "verbs-call"}},
      {.id = "grh-required",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title =
           "The address has no global routing header (GRH), which this port wants in every one",
       .texts = {{"IBV_QPF_GRH_REQUIRED"},
                 general("GRH is required"),
                 general("without GRH"),
                 general("missing GRH"),
                 general("GRH must be"),
                 general("has no GRH"),
                 general("is_global {}must be"),
                 general("is_global = 0"),
                 general("is_global=0"),
                 general("is_global {}missing"),
                 last("GRH && {connect-qp}"),
                 last("is_global && {connect-qp}")},
       .cause =
           "RoCE ports, and InfiniBand ports whose flags say so (`IBV_QPF_GRH_REQUIRED`: routed "
           "fabrics, some clouds), take an address only with `is_global = 1`, the peer's GID and "
           "an own `sgid_index`. The program addresses by LID alone.",
       .consequence = "The step to RTR, or the address handle, fails with Invalid argument.",
       .checks = {"roce-gid"},
       .fix_now = "perftest: `ib_write_bw -x 0` on InfiniBand, `-x 3` on RoCE, on both sides; in a "
                  "program: `ah_attr.is_global = 1`, `grh.dgid`, `grh.sgid_index`, `grh.hop_limit "
                  "= 64`; `show_gids` lists the indices",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html", Stated::kCause},
                   {"https://github.com/linux-rdma/perftest/issues/393", Stated::kCause}},
       .explains = {"perftest-gid", "qp-values", "qp-not-connected", "wrong-gid", "verbs-call"}},
      {.id = "hop-limit",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "Packets end at the first router: the hop limit of the address is 1 or 0",
       .texts = {general("hop limit to 1"), general("hop_limit to 1"), general("hop limit is 1"),
                 general("hop_limit = 1{end}"), general("hop_limit = 0"), general("hop_limit=1 "),
                 general("hop_limit is 1"), general("hop limit {}too small"),
                 general("hop limit && router"), general("hop_limit && router"),
                 general("TTL {}1 && {rdma-word}")},
       .cause = "The hop limit of the GRH becomes the time to live of the RoCE packet, and every "
                "router takes one off. Examples and old programs set 1 (ibv_ud_pingpong of "
                "rdma-core before 58), which is enough within one subnet.",
       .consequence = "Within a subnet all works, between subnets nothing arrives.",
       .checks = {"roce-gid"},
       .fix_now = "In the program: `grh.hop_limit = 64`; a newer rdma-core for its examples; to "
                  "tell it from the network: `ib_send_bw -c UD -x 3` between the same hosts",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/rdma-core/pull/1637", Stated::kCauseAndFix}},
       .explains = {"qp-not-connected", "peer-never-answers", "verbs-call"}},
      {.id = "cq-overflow",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A completion queue overflowed: it is shorter than what completes into it",
       .texts = {general("CQ overrun"),
                 general("CQ overflow"),
                 general("completion queue overflow"),
                 general("completion queue overrun"),
                 general("CQ is full"),
                 general("CQ is too small"),
                 general("IBV_EVENT_CQ_ERR"),
                 {"CQ 0x{word} overflow"}},
       .cause = "All requests whose completions may lie in the queue at once, of all queue pairs "
                "that share it (sends and receives, and everything that is flushed at an error), "
                "must have room in it. The program made it too short, or polls too seldom.",
       .consequence = "The queue and all its connections are broken.",
       .checks = {},
       .fix_now = "In the program: as many entries as the send and receive queues of all its queue "
                  "pairs together; polled until it is empty; `ibv_devinfo -v | grep max_cqe`; "
                  "names the most",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_create_cq.3.html", Stated::kCause},
                   {"https://github.com/ROCm/TransferBench/pull/239", Stated::kCauseAndFix}},
       .explains = {"nic-event", "work-flushed", "nic-error-completion", "receiver-waits",
                    "verbs-call"}},
      {.id = "mr-access-flags",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "Memory was registered without the right that the request needs",
       .texts = {last("need to specify local write"), last("requires local write"),
                 last("local write && must"), last("must && LOCAL_WRITE"),
                 last("without && LOCAL_WRITE"), last("missing && IBV_ACCESS_"),
                 last("lacks && IBV_ACCESS_"), last("forgot && IBV_ACCESS_"),
                 last("requires Remote Write"), last("without && REMOTE_WRITE"),
                 last("without && REMOTE_READ"), last("iwarp && remote write"),
                 last("iwarp && REMOTE_WRITE"), general("access flags && {fails} && {rdma-word}"),
                 general("wrong access flag"), general("invalid access flag"),
                 general("qp_access_flags && {fails}")},
       .cause =
           "Both the region (`ibv_reg_mr`) and the queue pair (`qp_access_flags` at INIT) must "
           "allow it: what the NIC writes into needs `IBV_ACCESS_LOCAL_WRITE`, also for receives "
           "and as the target of an own read; remote write and atomic need it besides "
           "`IBV_ACCESS_REMOTE_WRITE` or `_ATOMIC`; iWARP wants `IBV_ACCESS_REMOTE_WRITE` on the "
           "memory into which an RDMA read brings its data.",
       .consequence = "Registration fails with Invalid argument, or the request ends with local "
                      "protection (4) or remote access (10).",
       .checks = {},
       .fix_now =
           "In the program: these flags in `ibv_reg_mr` and in `qp_access_flags` of the side "
           "whose memory it is",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_reg_mr.3.html", Stated::kCause},
                   {"https://github.com/ofiwg/libfabric/pull/3521", Stated::kCauseAndFix}},
       .explains = {"remote-access-refused", "gpu-access-fails", "mr-invalid-argument",
                    "verbs-call"}},
      {.id = "foreign-key",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The key of a region is the wrong one: lkey for rkey, or of another protection "
                "domain or NIC",
       .texts = {general("wrong rkey"),
                 general("wrong lkey"),
                 general("invalid rkey"),
                 general("invalid lkey"),
                 general("invalid L_Key"),
                 general("invalid R_Key"),
                 general("instead of the lkey"),
                 general("instead of the rkey"),
                 general("instead of lkey"),
                 general("instead of rkey"),
                 general("rkey is for the wrong"),
                 general("rkey mismatch"),
                 general("rkey violation"),
                 general("lkey violation"),
                 general("wrong PD"),
                 general("rkey check failed"),
                 general("different protection domain"),
                 general("another protection domain"),
                 general("protection domain violation"),
                 general("protection domain mismatch"),
                 general("PD mismatch && {rdma-word}"),
                 general("pd mismatch in")},
       .cause =
           "A key belongs to one region of one protection domain of one NIC. The lkey goes into "
           "the own requests, the rkey to the peer; that both are often the same number hides it "
           "when they are mixed up. With several NICs, or `rdma_cm`, the region must be "
           "registered with the domain of the very queue pair that is used, so not before "
           "`ADDR_RESOLVED` has said which NIC it is.",
       .consequence = "Requests end with local protection (4) or remote access (10), often on some "
                      "hosts only.",
       .checks = {},
       .fix_now = "In the program: send `mr->rkey` to the peer, in the byte order that it expects; "
                  "compare `qp->pd` with `mr->pd`; register after `rdma_resolve_addr`",
       .fix_for_good = "",
       .sources = {{"https://github.com/animeshtrivedi/rdma-example/pull/4", Stated::kCauseAndFix},
                   {"https://github.com/chimera-nas/libevpl/pull/89", Stated::kCauseAndFix}},
       .explains = {"remote-access-refused", "gpu-access-fails", "memory-not-registered",
                    "verbs-call"}},
      {.id = "rdma-atomics",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "Atomic operations over RDMA: right, alignment, or a NIC or memory that has none",
       .texts = {last("misaligned atomic"),
                 last("unaligned atomic"),
                 last("FI_CSWAP"),
                 last("Fetch&Add && {rdma-word}"),
                 last("rdma && atomic && {fails}"),
                 last("atomic && NAK"),
                 last("IBV_WR_ATOMIC && {fails}"),
                 last("network atomics && {fails}"),
                 last("related to atomics && {fails}"),
                 last("remote atomic && {fails}"),
                 last("compare_and_swap && {rdma-word}"),
                 last("fetch_and_add && {fails}"),
                 last("fetch_add && rdma && {fails}"),
                 last("fi_atomic && {fails}"),
                 last("RDMA atomics && {fails}"),
                 {"status REMOTE ACCESS ERROR status number 10", 1},
                 {"REMOTE INVALID REQUEST ERROR", 1},
                 {"related to atomics", 2},
                 {"MPI_Fetch_and_op", 2},
                 {"MPI_Compare_and_swap", 2}},
       .cause =
           "Likeliest first: `IBV_ACCESS_REMOTE_ATOMIC` is missing on the region or in "
           "`qp_access_flags` of the side that is asked; `max_dest_rd_atomic` there, or "
           "`max_rd_atomic` here, is 0; the address is no multiple of 8; the NIC has none "
           "(`atomic_cap: ATOMIC_NONE`; iWARP, EFA, most software NICs). Memory of a GPU takes "
           "no atomics of a NIC where its BAR does not support those of PCIe. Connect-IB gives "
           "the old value back in the other byte order.",
       .consequence = "The request ends with remote access (10) or invalid request (9).",
       .checks = {"rdma-nics"},
       .fix_now = "`ibv_devinfo -v | grep atomic_cap`; `ib_atomic_bw`; between the two hosts; Open "
                  "MPI: `mpirun --mca btl_openib_flags 310 PROGRAM` leaves atomics out, with UCX "
                  "`UCX_ATOMIC_MODE=cpu`; the three settings above in an own program",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_post_send.3.html", Stated::kCause},
                   {"https://github.com/open-mpi/ompi/issues/1241", Stated::kCauseAndFix},
                   {"https://github.com/ofiwg/libfabric/issues/10911", Stated::kCause}},
       .explains = {"remote-access-refused", "post-refused", "verbs-call"}},
      {.id = "receiver-waits",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title = "A program waits for a completion that does not come",
       .texts = {general("completion wasn't found in the CQ after timeout"),
                 last("ibv_get_cq_event && hang"),
                 last("ibv_get_cq_event && block"),
                 last("ibv_get_cq_event && stuck"),
                 last("ibv_get_cq_event && never"),
                 last("ibv_poll_cq && hang"),
                 last("ibv_poll_cq && stuck"),
                 last("ibv_poll_cq && infinite"),
                 last("poll_cq && returns 0"),
                 last("ibv_poll_cq && return 0"),
                 last("ibv_poll_cq && never"),
                 last("poll_cq && always 0"),
                 last("ibv_poll_cq && forever"),
                 last("WRITE_WITH_IMM && wait"),
                 last("WRITE_WITH_IMM && never"),
                 last("WRITE_WITH_IMM && no completion"),
                 last("no completion && {rdma-word}"),
                 last("completion is never && {rdma-word}"),
                 last("wrong usage of notifications"),
                 last("cq isn't emptied"),
                 last("missed completion && {rdma-word}"),
                 last("lost completion && {rdma-word}"),
                 last("not receive && completion && {rdma-word}")},
       .cause =
           "Of four common reasons the likeliest first: an RDMA write or read makes no completion "
           "at the other side (only sends and writes with immediate data do, and each takes a "
           "posted receive there); the request was not signaled, so none is made here either; the "
           "event was armed (`ibv_req_notify_cq`) after the completion had come, and the queue "
           "was not polled once more; or the wrong queue is polled.",
       .consequence = "The program waits for ever, and nothing reports an error.",
       .checks = {},
       .fix_now = "In the program: receives posted before the peer sends; `IBV_SEND_SIGNALED` or "
                  "`sq_sig_all`; arm, then poll until empty, then wait; `rdma -p statistic` shows "
                  "whether packets went out at all",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_get_cq_event.3.html",
                    Stated::kCause},
                   {"https://github.com/linux-rdma/perftest/issues/137", Stated::kSymptom}},
       .explains = {"verbs-call"}},
  };
  return table;
}

}  // namespace gdr::explain
