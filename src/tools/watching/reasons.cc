#include "watching/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "text/command.h"
#include "text/format.h"

namespace gdr::watching {
namespace {

using ledger::Memory;
using text::plural;
using text::size_text;

// Joins what all processes have loaded, as seen from inside and from outside.
std::uint64_t libraries_of(const Observations& seen) {
  std::uint64_t libraries = 0;
  for (const Process& one : seen.calls.processes) libraries |= one.libraries;
  for (const auto& [pid, one] : seen.processes) libraries |= one.libraries;
  return libraries;
}

// Registrations of GPU memory that failed; null without one.
const RegionGroup* refused_gpu_memory(const Report& report) {
  for (const RegionGroup& one : report.regions) {
    if (one.error != 0 && one.memory == Memory::kGpu) return &one;
  }
  return nullptr;
}

std::string refusal(const RegionGroup& one) {
  return fmt::format("{} refused to register GPU memory {}: {}; 'gdr doctor' says why", one.device,
                     one.way == ledger::Way::kDmaBuf ? "as a dma-buf" : "by its address",
                     std::strerror(one.error));
}

std::string connections(const Observations& seen) {
  std::uint32_t count = 0;
  for (const auto& [pid, one] : seen.processes) count += one.connections;
  return count == 0 ? "" : fmt::format("it had {} open", plural(count, "TCP connection"));
}

// The transport library that decided, and what it needs.
std::string transport_words(std::uint64_t libraries, bool shares_memory) {
  if ((libraries & ledger::kUcx) != 0 && (libraries & ledger::kUcxIb) == 0) {
    return "UCX is loaded without its InfiniBand part (libuct_ib): UCX_TLS or UCX_NET_DEVICES "
           "excludes it, or its package is missing";
  }
  if ((libraries & ledger::kUcx) != 0 && shares_memory) {
    return "UCX chose shared memory, since the other process is on this host; UCX_TLS=rc chooses "
           "the "
           "NIC";
  }
  if ((libraries & ledger::kUcx) != 0) {
    return "UCX is loaded and chose another transport; UCX_LOG_LEVEL=info shows it";
  }
  if ((libraries & ledger::kFabric) != 0) {
    return "libfabric is loaded and chose another provider than verbs; FI_PROVIDER and "
           "FI_LOG_LEVEL=info show it";
  }
  if ((libraries & ledger::kNccl) != 0) {
    return "NCCL is loaded and chose another network; 'gdr nccl run' says why";
  }
  if ((libraries & ledger::kMpi) != 0) {
    return "MPI is loaded and chose shared memory or TCP";
  }
  return "";
}

// Why nothing of the program could be seen; empty: the watch was in it.
std::string unwatched_words(const Observations& seen) {
  if (!seen.calls.processes.empty()) return "";
  const std::string& name = seen.program.name;
  if (seen.program.is_static) {
    return name + " is statically linked, so its calls cannot be seen";
  }
  if (seen.program.is_foreign) {
    return name + " is built for another processor or for 32 bits, so its calls cannot be seen";
  }
  if (seen.program.is_privileged) {
    return name +
           " is set-user-ID, set-group-ID or has capabilities, so the loader ignores "
           "LD_PRELOAD and its calls cannot be seen";
  }
  return "libgdr-watch.so was not loaded into " + name + ", so its calls cannot be seen";
}

// How far it came on the way to a transfer.
std::string how_far(const Observations& seen, std::uint64_t libraries) {
  const Snapshot& calls = seen.calls;
  if (!calls.queue_pairs.empty()) {
    return fmt::format("it made {} on {} and moved no bytes through {}",
                       plural(calls.queue_pairs.size(), "queue pair"), opened_names(calls),
                       calls.queue_pairs.size() == 1 ? "it" : "them");
  }
  if (!opened_names(calls).empty()) {
    return fmt::format("it opened {} and made no queue pair", opened_names(calls));
  }
  if ((libraries & (ledger::kVerbs | ledger::kSoftNic)) != 0) {
    if (!seen.has_nic && (libraries & ledger::kSoftNic) == 0) {
      return "libibverbs is loaded and finds no device: this host has no RDMA NIC; for the "
             "software NIC: " +
             text::Command("gdr watch -- gdr run -- {}", seen.program.name).text();
    }
    return "libibverbs is loaded, and it opened no device";
  }
  return "it loaded no libibverbs";
}

void add_if(std::vector<std::string>& to, std::string words) {
  if (!words.empty()) to.push_back(std::move(words));
}

}  // namespace

bool had_library(const Snapshot& calls, const std::map<pid_t, SeenProcess>& processes,
                 ledger::Library library) {
  return std::any_of(calls.processes.begin(), calls.processes.end(),
                     [&](const Process& one) { return (one.libraries & library) != 0; }) ||
         std::any_of(processes.begin(), processes.end(),
                     [&](const auto& one) { return (one.second.libraries & library) != 0; });
}

std::vector<std::string> why_staged(const Report& report) {
  if (const RegionGroup* refused = refused_gpu_memory(report)) return {refusal(*refused)};
  const bool registered =
      std::any_of(report.regions.begin(), report.regions.end(),
                  [](const RegionGroup& one) { return one.memory == Memory::kGpu; });
  if (registered) return {"GPU memory is registered, but its requests use host memory"};
  std::vector<std::string> reasons = {
      "it never tried to register GPU memory: it is built or set without GPUDirect RDMA"};
  if ((libraries_of(report.seen) & ledger::kNccl) != 0) {
    reasons.emplace_back("NCCL says why: " +
                         text::Command("gdr nccl run -- {}", report.seen.program.name).text());
  }
  return reasons;
}

std::vector<std::string> why_host(const Report& report) {
  if (const RegionGroup* refused = refused_gpu_memory(report)) return {refusal(*refused)};
  if ((libraries_of(report.seen) & (ledger::kCuda | ledger::kSoftGpu)) == 0) {
    return {"it loaded no CUDA driver, so it has no GPU memory"};
  }
  const std::uint64_t copied = report.to_host + report.to_gpu;
  return {copied == 0 ? "it copied nothing between host and GPU by the CUDA driver"
                      : fmt::format("{} copied between host and GPU are too few to be these bytes",
                                    size_text(copied))};
}

std::vector<std::string> why_not(const Report& report) {
  const Observations& seen = report.seen;
  const std::uint64_t libraries = libraries_of(seen);
  std::vector<std::string> reasons;
  add_if(reasons, unwatched_words(seen));
  if (reasons.empty()) reasons.push_back(how_far(seen, libraries));
  const bool shares_memory =
      std::any_of(seen.processes.begin(), seen.processes.end(),
                  [](const auto& one) { return one.second.shares_ucx_memory; });
  add_if(reasons, transport_words(libraries, shares_memory));
  add_if(reasons, connections(seen));
  return reasons;
}

bool posts_to_hardware(const Observations& seen) {
  // Nobody can do that with the software NIC.
  if (seen.soft_nic || seen.calls.all().posted() > 0) return false;
  const bool made = std::any_of(seen.calls.queue_pairs.begin(), seen.calls.queue_pairs.end(),
                                [](const QueuePair& one) { return one.peer_number.has_value(); });
  const bool moved = std::any_of(seen.ports.begin(), seen.ports.end(), [](const auto& one) {
    return one.second.out + one.second.in > 0;
  });
  return made && moved && (libraries_of(seen) & ledger::kMlx5) != 0;
}

void add_what_was_not_seen(Report& report) {
  const Snapshot& calls = report.seen.calls;
  if (report.verdict != Verdict::kNone && (report.seen.soft_nic || report.seen.soft_gpu)) {
    report.reasons.push_back(fmt::format("{}{}{}: this says nothing about real ones",
                                         report.seen.soft_nic ? "software NIC" : "",
                                         report.seen.soft_nic && report.seen.soft_gpu ? ", " : "",
                                         report.seen.soft_gpu ? "software GPU" : ""));
  }
  std::string unwatched;
  for (const auto& [pid, one] : report.seen.processes) {
    if (one.watched || !one.readable || calls.processes.empty()) continue;
    // Only what has a part in RDMA is worth a word.
    if ((one.libraries & (ledger::kVerbs | ledger::kSoftNic)) == 0) continue;
    unwatched += fmt::format("{}{} (process {})", unwatched.empty() ? "" : ", ", one.program, pid);
  }
  if (!unwatched.empty()) report.reasons.push_back("not seen: the calls of " + unwatched);
  const auto beyond = [&](std::uint32_t more, const char* noun) {
    if (more == 0) return;
    report.reasons.push_back(
        fmt::format("at least {} more without a line of their own", plural(more, noun)));
  };
  beyond(calls.more_queue_pairs, "queue pair");
  beyond(calls.more_regions, "registration");
  beyond(calls.more_processes, "process record");
}

}  // namespace gdr::watching
