#include <fmt/format.h>

#include "nccl/causes.h"

namespace gdr::nccl {
namespace {

std::optional<Cause> no_info(const Case& found) {
  if (found.log.infos > 0) return std::nullopt;
  return Cause{"log_level", "the log has no INFO lines of NCCL", found.log.first_warning,
               debug_settings(), "set this for every rank, and run again"};
}

std::optional<Cause> failed(const Case& found) {
  if (found.verdict != Verdict::kNoConnections || !found.log.first_warning) return std::nullopt;
  if (found.log.infos == 0) return std::nullopt;
  return Cause{"failed", "NCCL failed before it connected anything", found.log.first_warning,
               debug_settings(), "its first warning causes those that follow"};
}

std::optional<Cause> not_connected(const Case& found) {
  const auto& done = found.log.fact(Fact::kInitDone);
  if (found.verdict != Verdict::kNoConnections || !done || found.log.first_warning) {
    return std::nullopt;
  }
  return Cause{"not_connected",
               "NCCL created the communicator but connected nothing: since 2.22 it connects at the "
               "first operation",
               done, text::Command("NCCL_RUNTIME_CONNECT=0"),
               "or run an all-reduce; NCCL_DEBUG_SUBSYS without INIT hides connections"};
}

std::optional<Cause> no_connections(const Case& found) {
  if (found.verdict != Verdict::kNoConnections || found.log.infos == 0 || found.log.first_warning ||
      found.log.fact(Fact::kInitDone)) {
    return std::nullopt;
  }
  return Cause{
      "log_subsystems",
      "the log has no lines about connections: it ends early, or NCCL_DEBUG_SUBSYS lacks INIT",
      std::nullopt, debug_settings(), ""};
}

// Whether NIC and GPU can is logged by the subsystem NET, which is not on by default.
std::optional<Cause> no_net_messages(const Case& found) {
  const Log& log = found.log;
  if (found.counts.plain == 0 || log.infos == 0) return std::nullopt;
  if (!log.devices.empty() || !log.distances.empty()) {
    return Cause{"unexplained", "the log does not say why", std::nullopt,
                 text::Command("gdr prove --require-hardware"),
                 "tries the same path without NCCL, step by step"};
  }
  return Cause{"log_subsystems",
               "the log does not say why: NCCL logs the reason in the subsystems NET and GRAPH, "
               "which are off by default",
               std::nullopt, debug_settings(), "set this for every rank, and run again"};
}

std::optional<Cause> uncertain(const Case& found) {
  if (found.counts.uncertain == 0 || found.counts.plain > 0) return std::nullopt;
  return Cause{
      "truncated",
      "the lines about connections are cut off before GDRDMA, or mixed with other processes' lines",
      std::nullopt, text::Command("NCCL_DEBUG_FILE=/tmp/nccl.%h.%p"),
      "gives each process its own file"};
}

constexpr FindCause kTable[] = {no_info,        failed,          not_connected,
                                no_connections, no_net_messages, uncertain};

}  // namespace

std::span<const FindCause> log_causes() { return kTable; }

}  // namespace gdr::nccl
