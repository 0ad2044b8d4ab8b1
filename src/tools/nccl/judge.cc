#include "nccl/judge.h"

#include <utility>

#include "nccl/causes.h"

namespace gdr::nccl {
namespace {

void count_network(const Connection& connection, Counts& counts) {
  ++counts.network;
  const bool receives = connection.direction == Direction::kReceive;
  if (connection.gdrdma) {
    ++counts.gdrdma;
    if (receives) ++counts.gdrdma_receives;
    return;
  }
  if (!connection.certain) {
    ++counts.uncertain;
    return;
  }
  ++counts.plain;
  ++(receives ? counts.plain_receives : counts.plain_sends);
  if (connection.kind == "Socket") {
    ++counts.socket;
  } else {
    ++(is_ib(connection) ? counts.plain_ib : counts.plain_plugin);
  }
}

Counts count(const Log& log) {
  Counts counts;
  counts.connections = log.connections.size() + log.connections_left_out;
  for (const auto& [connection, times] : log.connections) {
    switch (connection.transport) {
      case Transport::kNet:
      case Transport::kCollNet:
        count_network(connection, counts);
        break;
      case Transport::kP2p:
        ++counts.p2p;
        break;
      case Transport::kSharedMemory:
        ++counts.shared_memory;
        break;
      case Transport::kOther:
        ++counts.other;
        break;
    }
  }
  // A list that is full must not make the verdict better than the log is.
  counts.plain += log.plain_left_out;
  counts.network += log.plain_left_out;
  return counts;
}

Verdict verdict_of(const Counts& counts) {
  if (counts.connections == 0) return Verdict::kNoConnections;
  if (counts.gdrdma + counts.plain == 0) {
    return counts.uncertain == 0 ? Verdict::kNoNetwork : Verdict::kNone;
  }
  if (counts.plain == 0) return Verdict::kGdrdma;
  return counts.gdrdma == 0 ? Verdict::kNone : Verdict::kPartial;
}

bool is_met(Verdict verdict, Expectation expectation) {
  switch (expectation) {
    case Expectation::kGdrdma:
      return verdict == Verdict::kGdrdma;
    case Expectation::kLocal:
      return verdict == Verdict::kNoNetwork;
    case Expectation::kAny:
      break;
  }
  return verdict != Verdict::kNoConnections;
}

}  // namespace

bool is_ib(const Connection& connection) { return connection.kind.starts_with("IB"); }

Report judge(Log log, Expectation expectation) {
  Report report;
  report.log = std::move(log);
  report.expectation = expectation;
  report.counts = count(report.log);
  report.verdict = verdict_of(report.counts);
  report.met = is_met(report.verdict, expectation);
  const Case found{report.log, report.counts, report.verdict};
  if (!report.met) {
    report.causes =
        expectation == Expectation::kLocal ? causes_of_network(found) : causes_of_absence(found);
  }
  report.also = errors_of(found);
  // If nothing was connected, the errors are the reason.
  if (report.verdict == Verdict::kNoConnections && !report.also.empty()) {
    report.causes = std::exchange(report.also, {});
  }
  return report;
}

}  // namespace gdr::nccl
