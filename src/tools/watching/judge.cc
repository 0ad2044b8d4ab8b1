#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "text/format.h"
#include "watching/reasons.h"
#include "watching/report.h"

namespace gdr::watching {
namespace {

using ledger::Memory;
using text::size_text;

std::vector<RegionGroup> group(const Observations& seen) {
  std::vector<RegionGroup> groups;
  for (const Region& one : seen.calls.regions) {
    const auto same = [&](const RegionGroup& known) {
      return known.device == one.device && known.gpu == one.gpu && known.memory == one.memory &&
             known.way == one.way && known.managed == one.managed && known.error == one.error;
    };
    auto known = std::find_if(groups.begin(), groups.end(), same);
    if (known == groups.end()) {
      const auto grade = seen.grades.find({one.gpu, one.device});
      groups.push_back({one.device, one.gpu,
                        grade == seen.grades.end() ? std::string() : grade->second, one.memory,
                        one.way, one.managed, one.error, 0, 0, 0});
      known = groups.end() - 1;
    }
    ++known->count;
    known->bytes += one.bytes;
    known->largest = std::max(known->largest, one.bytes);
  }
  return groups;
}

bool has_remote_region(const Snapshot& calls, Memory memory) {
  return std::any_of(calls.regions.begin(), calls.regions.end(), [&](const Region& one) {
    return one.memory == memory && one.error == 0 && one.remote;
  });
}

bool has_region(const Snapshot& calls, Memory memory) {
  return std::any_of(calls.regions.begin(), calls.regions.end(),
                     [&](const Region& one) { return one.memory == memory && one.error == 0; });
}

constexpr std::uint32_t kReadyToReceive = 2;  // IBV_QPS_RTR; later states are larger

bool is_connected(const Snapshot& calls) {
  return std::any_of(calls.queue_pairs.begin(), calls.queue_pairs.end(), [](const QueuePair& one) {
    return one.peer_number && one.state >= kReadyToReceive;
  });
}

// The program's own requests moved bytes.
void judge_moved(Report& report, const Counts& all) {
  const std::uint64_t gpu = all.all_in(Memory::kGpu);
  const std::uint64_t rest = all.all() - gpu;
  const std::uint64_t copied = report.to_host + report.to_gpu;
  if (gpu >= rest && gpu > 0) {
    report.verdict = Verdict::kDirect;
    report.headline = fmt::format("direct: {} of {} over RDMA went from or into GPU memory",
                                  size_text(gpu), size_text(all.all()));
    return;
  }
  // A byte that is staged is copied at least once; half allows for what else is sent.
  if (copied > 0 && copied >= rest / 2) {
    report.verdict = Verdict::kStaged;
    report.headline = fmt::format(
        "staged through host memory: {} over RDMA from or into host memory, and {} "
        "copied between host and GPU{}",
        size_text(rest), size_text(copied),
        gpu > 0 ? fmt::format("; {} direct", size_text(gpu)) : "");
    report.reasons = why_staged(report);
    return;
  }
  if (gpu > 0) {
    report.verdict = Verdict::kDirect;
    report.headline = fmt::format(
        "direct in part: {} of {} over RDMA went from or into GPU memory, the rest had nothing to "
        "do with a GPU",
        size_text(gpu), size_text(all.all()));
    return;
  }
  report.verdict = Verdict::kHost;
  report.headline = fmt::format("over RDMA, with host memory only: {}", size_text(all.all()));
  report.reasons = why_host(report);
}

// Nothing was posted. What peers do with this program's memory does not show in its calls.
bool judge_passive(Report& report) {
  const Snapshot& calls = report.seen.calls;
  if (!is_connected(calls)) return false;
  constexpr const char* kPassive = "what peers write and read here shows in their own calls only";
  if (has_remote_region(calls, Memory::kGpu)) {
    report.verdict = Verdict::kDirect;
    report.headline = "direct: peers were given GPU memory to write and read";
    report.reasons.emplace_back(kPassive);
    return true;
  }
  const bool is_posted_elsewhere = posts_to_hardware(report.seen);
  if (!is_posted_elsewhere && !has_remote_region(calls, Memory::kHost)) return false;
  if (is_posted_elsewhere && has_region(calls, Memory::kGpu)) {
    report.verdict = Verdict::kDirect;
    report.headline = "direct: GPU memory is registered, and the program posts to the NIC itself";
  } else {
    const std::uint64_t copied = report.to_host + report.to_gpu;
    report.verdict = copied > 0 ? Verdict::kStaged : Verdict::kHost;
    report.headline = copied > 0
                          ? fmt::format(
                                "staged through host memory: only host memory is registered, and "
                                "{} copied between host and GPU",
                                size_text(copied))
                          : "over RDMA, with host memory only: peers were given host memory";
    if (copied > 0) report.reasons = why_staged(report);
  }
  if (is_posted_elsewhere) {
    report.reasons.emplace_back(
        "the program posts to the NIC itself (direct verbs); only the port counters show its "
        "bytes");
  } else {
    report.reasons.emplace_back(kPassive);
  }
  return true;
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDirect:
      return "direct";
    case Verdict::kStaged:
      return "staged";
    case Verdict::kHost:
      return "host";
    case Verdict::kNone:
      break;
  }
  return "none";
}

Report judge(Observations seen) {
  Report report;
  report.seen = std::move(seen);
  report.regions = group(report.seen);
  for (const Process& one : report.seen.calls.processes) {
    report.to_host += one.to_host;
    report.to_gpu += one.to_gpu;
  }
  const Counts all = report.seen.calls.all();
  if (all.all() > 0) {
    judge_moved(report, all);
  } else if (!judge_passive(report)) {
    report.verdict = Verdict::kNone;
    report.headline = "not over RDMA";
    report.reasons = why_not(report);
  }
  add_what_was_not_seen(report);
  return report;
}

}  // namespace gdr::watching
