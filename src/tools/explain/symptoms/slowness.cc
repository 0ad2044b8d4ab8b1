// Slow transfers without an error, and the counters and links that say why.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& slowness_symptoms() {
  static const Symptoms table = {
      {.id = "slow-rdma",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title =
           "RDMA works and is slower than the link: path to the memory, MTU, losses or too few "
           "requests",
       .texts = {last("slower && {rdma-word}"),
                 last("slower than {}TCP"),
                 last("worse than {}TCP"),
                 last("lower RDMA perf"),
                 last("{rdma-word} && low bandwidth"),
                 last("{rdma-word} && bandwidth is low"),
                 last("{rdma-word} && low throughput"),
                 last("far less than{}Gb"),
                 last("much less than{}Gb"),
                 last("far below{}Gb"),
                 last("poor GPU performance"),
                 last("poor performance && {rdma-word}"),
                 last("bad performance && {rdma-word}"),
                 last("ib_{word}_bw && only"),
                 last("ib_{word}_bw && poor"),
                 last("ib_{word}_bw && slow"),
                 last("ib_{word}_bw && half"),
                 last("small bandwidth"),
                 last("lower bandwidth && {rdma-word}"),
                 last("low speed && gbps"),
                 last("expected bandwidth"),
                 last("bandwidth && lower than expected"),
                 last("bandwidth && not as expected"),
                 last("performance gap"),
                 last("random slow && rdma"),
                 last("times slower"),
                 last("cannot reach && Gbps && {rdma-word}"),
                 last("half the bandwidth"),
                 last("half of the {}bandwidth"),
                 last("half of the line rate"),
                 last("GPU-to-GPU transfers && MB/s"),
                 last("Bandwidth drops && {rdma-word}"),
                 last("bandwidth && drop && {rdma-word}"),
                 last("throughput && drop && {rdma-word}"),
                 last("multi_rail && bandwidth"),
                 last("multi-rail && bandwidth"),
                 last("performance degradation && NIC"),
                 last("degradation && {rdma-word}")},
       .cause =
           "Likeliest first. GPU memory slow, host memory fast: GPU and NIC do not share a PCIe "
           "switch (NODE, SYS), or data is copied through the host. Both slow: the NIC's PCIe slot "
           "(x8, Gen3), the process on the other NUMA node, RoCE with an interface of MTU 1500 "
           "(`active_mtu` 1024), a lossy network, or several NICs of which one is used. Small "
           "messages or one queue pair alone do not fill a fast link. Of one link 93 to 97 % are "
           "user data.",
       .consequence = "Less than the link gives; no data is lost.",
       .checks = {"pcie-link", "mtu", "lossless", "port-errors", "acs"},
       .fix_now = "`gdr topo`; `gdr doctor`; `gdr perf`; measures host and GPU memory side by side "
                  "and names the nearest limit; `ib_write_bw -s 8388608 -q 4 --report_gbits`; with "
                  "`numactl --cpunodebind=N` on the NIC's node; `sudo ip link set dev INTERFACE "
                  "mtu 9000`; on both hosts and the switch",
       .fix_for_good = "",
       .sources = {{"https://enterprise-support.nvidia.com/s/article/performance-tuning-for-"
                    "mellanox-adapters",
                    Stated::kFix},
                   {"https://github.com/linux-rdma/perftest/issues/241", Stated::kSymptom},
                   {"https://github.com/linux-rdma/perftest/issues/252", Stated::kSymptom}},
       .explains = {"verbs-call", "ucx-call", "mpi-network"}},
      {.id = "rdma-latency",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title = "RDMA's latency is high or varies: sleep states, interrupts, the far NUMA node",
       .texts = {last("delay jitter"), last("latency jitter"),
                 last("latency && {rdma-word} && high"), last("huge latency"),
                 last("latency && unstable"), last("delay is unstable"),
                 last("ib_{word}_lat && high"), last("maximum delay is many times"),
                 last("latency && {rdma-word} && slow"), last("tail latency && {rdma-word}"),
                 last("req/rsp performance"), last("latency spikes"),
                 last("round-trip && RDMA && ms")},
       .cause = "Likeliest first: processors that sleep or change their frequency between messages "
                "(C-states, the governor), or a program that waits for interrupts "
                "(`ibv_get_cq_event`) in place of polling; the process on another NUMA node than "
                "the NIC; other work on the same core; interrupts of the NIC all on one core. "
                "Milliseconds are mostly a resend after a lost packet or RNR, or a program that "
                "waits for a timer.",
       .consequence = "Averages are fine, single messages late.",
       .checks = {"port-errors", "lossless"},
       .fix_now = "`sudo cpupower frequency-set -g performance`; `sudo cpupower idle-set -D 10`; "
                  "`numactl --cpunodebind=N ib_write_lat -d DEVICE`; with the NIC's node; `gdr "
                  "counters` before and after shows resends; Linux parameter for good: "
                  "`processor.max_cstate=1`",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/perftest/issues/172", Stated::kSymptom},
                   {"https://github.com/accelio/accelio/issues/185", Stated::kSymptom}},
       .explains = {"verbs-call"}},
      {.id = "link-degraded",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A link of the fabric came up narrower or slower than both its ends can",
       .texts = {{"( Could be {number}"},
                 {"(Could be {number}"},
                 {"Could be {number}X"},
                 {"Could be {word} Gbps"},
                 {"Link speed {}should be"},
                 {"Unexpected link width"},
                 {"Unexpected width, actual link width is"},
                 {"Unexpected speed, actual link speed is"},
                 {"Unexpected actual link speed"}},
       .cause = "`iblinkinfo` and `ibdiagnet` compare what a link runs at with what both ports "
                "offer. A bad or dirty cable, a transceiver of a lower speed or a port that was "
                "limited by hand.",
       .consequence = "All traffic over this link is slower, and that of others that wait for it.",
       .checks = {"port-errors", "port-state"},
       .fix_now = "`sudo mlxlink -d DEVICE -m -c`; shows cable and eye; reseat or exchange the "
                  "cable; `sudo ibportstate LID PORT reset`",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man8/iblinkinfo.8.html", Stated::kCause}},
       .explains = {"slow-rdma"}},
      {.id = "link-errors",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A link makes bit errors or goes down again and again: cable or transceiver",
       .texts = {{"SymbolErrorCounter:..............{above-zero}"},
                 {"LinkErrorRecoveryCounter:........{above-zero}"},
                 {"LinkDownedCounter:...............{above-zero}"},
                 {"PortRcvErrors:...................{above-zero}"},
                 {"LocalLinkIntegrityErrors:........{above-zero}"},
                 {"symbol_error:{above-zero}"},
                 {"symbol_error: {above-zero}"},
                 {"symbol_error {above-zero}"},
                 {"link_error_recovery:{above-zero}"},
                 {"link_error_recovery: {above-zero}"},
                 {"port_rcv_errors:{above-zero}"},
                 {"port_rcv_errors: {above-zero}"},
                 {"link_downed:{above-zero}"},
                 {"link_downed: {above-zero}"},
                 {"rx_crc_errors_phy: {above-zero}"},
                 {"rx_symbol_err_phy: {above-zero}"},
                 {"[SymbolErrorCounter == {above-zero}"},
                 {"[LinkErrorRecoveryCounter == {above-zero}"},
                 {"[LinkDownedCounter == {above-zero}"},
                 {"[PortRcvErrors == {above-zero}"}},
       .cause = "The counters run from boot or from their last reset on, and a reboot of the other "
                "side adds to them: what counts is that they grow. Then it is the cable, its seat "
                "or dirt on it, the transceiver, seldom the port.",
       .consequence = "Packets are sent again, so that transfers stall or end with status 12.",
       .checks = {"port-errors"},
       .fix_now =
           "`sudo perfquery -R LID PORT`, then `ibqueryerrors` after some minutes of load; "
           "`gdr counters`; `sudo mlxlink -d DEVICE -m -c -e`; exchange the cable, then look "
           "whether the error goes along with it",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man8/ibqueryerrors.8.html", Stated::kCause}},
       .explains = {"slow-rdma", "peer-never-answers", "packet-loss"}},
      {.id = "request-errors-counted",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title = "The NIC counts requests that ended with an error, or found no receive",
       .texts = {{"req_transport_retries_exceeded:{above-zero}"},
                 {"req_transport_retries_exceeded: {above-zero}"},
                 {"req_transport_retries_exceeded {above-zero}"},
                 {"rnr_nak_retry_err:{above-zero}"},
                 {"rnr_nak_retry_err: {above-zero}"},
                 {"rnr_nak_retry_err {above-zero}"},
                 {"req_remote_access_errors:{above-zero}"},
                 {"req_remote_access_errors: {above-zero}"},
                 {"req_remote_access_errors {above-zero}"},
                 {"resp_remote_access_errors {above-zero}"},
                 {"resp_local_length_error {above-zero}"},
                 {"req_rnr_retries_exceeded {above-zero}"},
                 {"local_ack_timeout_errs && {above-zero}"},
                 {"max_retry_exceeded {above-zero}"},
                 {"rnr_naks_rcvd: {above-zero}"},
                 {"rnr_nak_received && {rdma-word}"}},
       .cause = "Each of these is also an error completion in some program: the peer did not "
                "answer (transport retries), had no receive posted (RNR), or refused the access. "
                "They count from boot on: only what grows belongs to the present run.",
       .consequence = "Connections broke or waited; which program's, its own log says.",
       .checks = {"port-errors", "lossless"},
       .fix_now = "`gdr counters`; `rdma -p statistic show`; twice, before and after a run; then "
                  "the first error of that program",
       .fix_for_good = "",
       .sources = {{"https://enterprise-support.nvidia.com/s/article/understanding-mlx5-linux-"
                    "counters-and-status-parameters",
                    Stated::kCause}},
       .explains = {"slow-rdma"}},
  };
  return table;
}

}  // namespace gdr::explain
