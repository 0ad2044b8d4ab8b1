#include "fabric/report.h"

#include <algorithm>

namespace gdr::fabric {

std::string_view name_of(Fault fault) {
  switch (fault) {
    case Fault::kWrongBytes:
      return "wrong bytes";
    case Fault::kFailed:
      return "failed transfers";
    case Fault::kDied:
      return "died";
    case Fault::kHung:
      return "hung";
    case Fault::kNeverCame:
      return "never came";
    case Fault::kLeftOut:
      return "left out";
    case Fault::kSlow:
      return "slow";
    case Fault::kHighLatency:
      return "high latency";
  }
  return "";
}

std::string_view name_of(Culprit culprit) {
  switch (culprit) {
    case Culprit::kFleet:
      return "fleet";
    case Culprit::kHost:
      return "host";
    case Culprit::kNic:
      return "NIC";
    case Culprit::kCable:
      return "cable";
    case Culprit::kLeaf:
      return "leaf";
    case Culprit::kSpine:
      return "spine";
    case Culprit::kPair:
      return "pair";
  }
  return "";
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kProved:
      return "proved";
    case Outcome::kWrongBytes:
      return "wrong bytes";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kAbandoned:
      return "abandoned";
  }
  return "";
}

std::string_view name_of(HostState state) {
  switch (state) {
    case HostState::kThere:
      return "there";
    case HostState::kNeverCame:
      return "never came";
    case HostState::kLeftOut:
      return "left out";
    case HostState::kDied:
      return "died";
    case HostState::kHung:
      return "hung";
  }
  return "";
}

std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kTournament:
      return "tournament";
    case Pattern::kShift:
      return "shift";
    case Pattern::kBisection:
      return "bisection";
    case Pattern::kByLeaf:
      return "by-leaf";
  }
  return "";
}

bool took_part(const Host& host) {
  return !host.rails.empty() && host.state != HostState::kNeverCame &&
         host.state != HostState::kLeftOut;
}

std::size_t rail_count(const Report& report) {
  std::size_t count = report.rails.size();
  for (const Host& host : report.hosts) {
    if (took_part(host)) count = std::max(count, host.rails.size());
  }
  return count;
}

bool is_simulation(const Report& report) {
  return std::ranges::any_of(report.hosts, [](const Host& host) {
    return took_part(host) && std::ranges::any_of(host.rails, [](const Rail& rail) {
             return rail.software_nic || rail.software_gpu;
           });
  });
}

int exit_status(const Report& report) {
  if (!report.findings.empty()) return 1;
  const bool is_whole = !report.is_interrupted && report.rounds_done >= report.rounds_planned &&
                        !report.measurements.empty();
  return is_whole ? 0 : 3;
}

}  // namespace gdr::fabric
