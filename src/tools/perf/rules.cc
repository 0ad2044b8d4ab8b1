#include "perf/rules.h"

#include "base/clock.h"

namespace gdr::perf {
namespace {

Error wrong(std::string text) { return {EINVAL, std::move(text)}; }

Error outside(const char* option, std::uint64_t value, std::uint64_t most) {
  return wrong(std::string(option) + " " + std::to_string(value) + ": allowed are 1 to " +
               std::to_string(most));
}

Error together(const std::string& one, const std::string& other, const std::string& instead) {
  return wrong(one + " does not work with " + other + ": " + instead);
}

// The other side may send numbers that have no name.
Result<void> check_names(const Load& load) {
  bool known = true;
  Load::each_field([&](const char*, auto field, const char*) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(load.*field)>>) {
      known = known && load.*field <= kLast<std::remove_cvref_t<decltype(load.*field)>>;
    } else if constexpr (std::is_same_v<decltype(field), Place Load::*>) {
      known = known && (load.*field).kind <= kLast<Place::Kind>;
    }
  });
  if (known) return {};
  return wrong("this version does not know the requested load");
}

std::string ports_of(const Load& load) {
  return "--nic with " + std::to_string(load.ports) + " ports";
}

Result<void> check_stations(const Load& load) {
  if (load.ports < 1 || load.ports > kMostPorts) {
    return wrong(ports_of(load) + ": allowed are 1 to " + std::to_string(kMostPorts));
  }
  if (load.queue_pairs < 1 || load.queue_pairs > kMostQueuePairs) {
    return outside("--queue-pairs", load.queue_pairs, kMostQueuePairs);
  }
  if (load.threads < 1 || load.threads > kMostThreads) {
    return outside("--threads", load.threads, kMostThreads);
  }
  if (load.ports > load.threads) {
    return together(ports_of(load), "--threads " + std::to_string(load.threads),
                    "each port needs a thread of its own");
  }
  if (load.ports > load.queue_pairs) {
    return together(ports_of(load), "--queue-pairs " + std::to_string(load.queue_pairs),
                    "each port needs a queue pair of its own");
  }
  if (load.threads > load.queue_pairs) {
    return together("--threads " + std::to_string(load.threads),
                    "--queue-pairs " + std::to_string(load.queue_pairs),
                    "each thread needs a queue pair of its own");
  }
  return {};
}

Result<void> check_numbers(const Load& load) {
  if (load.depth < 1 || load.depth > kMostDepth) return outside("--depth", load.depth, kMostDepth);
  if (load.batch < 1) return outside("--batch", load.batch, load.depth);
  const std::string depth = "--depth " + std::to_string(load.depth);
  if (load.batch > load.depth) {
    return together("--batch " + std::to_string(load.batch), depth,
                    "a batch cannot be larger than the depth");
  }
  if (load.signal_every > load.depth) {
    return together("--signal-every " + std::to_string(load.signal_every), depth,
                    "no completion would come before the queue pair is full");
  }
  const bool in_step = load.signal_every == 0 || load.signal_every % load.batch == 0 ||
                       load.batch % load.signal_every == 0;
  if (!in_step && load.signal_every + load.batch > load.depth + 1) {
    return together("--signal-every " + std::to_string(load.signal_every),
                    "--batch " + std::to_string(load.batch),
                    "the queue pair would fill up before a completion; use a larger --depth");
  }
  return {};
}

Result<void> check_transport(const Load& load) {
  const std::string operation = std::string("--operation ") + name_of(load.operation);
  const std::string transport = std::string("--transport ") + name_of(load.transport);
  if (load.transport == Transport::kUd && load.operation != Operation::kSend) {
    return together(operation, transport, "UD supports sends only; use --operation send");
  }
  if (load.transport == Transport::kUc &&
      (load.operation == Operation::kRead || is_atomic(load.operation))) {
    return together(operation, transport, "reads and atomics need RC or XRC");
  }
  if (load.rdma_cm && load.transport != Transport::kRc) {
    return together("--rdma-cm", transport, "use --transport rc");
  }
  if (load.rdma_cm && load.service_level != 0) {
    return together("--rdma-cm", "--service-level " + std::to_string(load.service_level),
                    "the connection manager chooses the service level");
  }
  if (load.shared_receives && !is_received(load.operation)) {
    return together("--srq", operation, "this operation takes no receives; use --operation send");
  }
  return {};
}

Result<void> check_measure(const Load& load) {
  if (load.measure != Measure::kLatency) return {};
  if (load.both_ways) {
    return together("--both-ways", "--measure latency", "a round trip already goes both ways");
  }
  if (load.ports > 1) {
    return together(ports_of(load), "--measure latency",
                    "latency is measured on one port; measure the ports one after another");
  }
  if (load.queue_pairs != load.threads) {
    return together("--queue-pairs " + std::to_string(load.queue_pairs), "--measure latency",
                    "latency needs one queue pair per thread");
  }
  return {};
}

Result<void> check_memory(const Load& load) {
  const bool gpu = load.near.is_gpu() || load.far.is_gpu();
  if (load.inline_bytes > 0 && gpu) {
    return together("--inline " + std::to_string(load.inline_bytes), "GPU memory",
                    "the CPU copies inline data into the request, but cannot read GPU memory");
  }
  if (load.huge_pages && load.near.is_gpu() && load.far.is_gpu()) {
    return together("--huge-pages", "GPU memory on both sides", "huge pages are host memory");
  }
  if (!is_staged(load)) return {};
  if (load.transport != Transport::kRc) {
    return together("--memory staged", std::string("--transport ") + name_of(load.transport),
                    "use --transport rc");
  }
  if (load.operation != Operation::kWrite && load.operation != Operation::kSend) {
    return together("--memory staged", std::string("--operation ") + name_of(load.operation),
                    "use --operation write or send");
  }
  if (load.both_ways) {
    return together("--memory staged", "--both-ways", "staged transfers go in one direction");
  }
  if (load.queue_pairs != load.threads) {
    return together("--memory staged", "--queue-pairs " + std::to_string(load.queue_pairs),
                    "staged transfers use one queue pair per thread");
  }
  return {};
}

}  // namespace

Result<void> check_load(const Load& load, std::uint64_t largest) {
  if (largest < 1 || largest > kLargestSize) return outside("--sizes", largest, kLargestSize);
  if (is_atomic(load.operation) && largest != 8) {
    return together("--sizes " + std::to_string(largest),
                    std::string("--operation ") + name_of(load.operation),
                    "an atomic has 8 bytes; use --sizes 8");
  }
  for (auto rule :
       {check_names, check_stations, check_numbers, check_transport, check_measure, check_memory}) {
    if (Result<void> right = rule(load); !right) return right;
  }
  return {};
}

Result<void> check_timing(const Timing& timing) {
  constexpr std::uint64_t kMostNanoseconds = std::uint64_t{24} * 3600 * kSecond;
  constexpr std::uint32_t kMostSlices = 10'000;
  constexpr std::uint64_t kMostMessages = std::uint64_t{1} << 47;  // more than a day's
  if (timing.slices < 1 || timing.slices > kMostSlices) {
    return outside("--repeats", timing.slices, kMostSlices);
  }
  if (timing.slice_nanoseconds > kMostNanoseconds / timing.slices ||
      timing.warm_up_nanoseconds > kMostNanoseconds) {
    return wrong("--duration must be at most a day");
  }
  if (timing.slice_messages > kMostMessages / timing.slices) {
    return wrong("--iterations " + std::to_string(timing.slice_messages) + " in each of " +
                 std::to_string(timing.slices) + " repetitions: at most " +
                 std::to_string(kMostMessages) + " together");
  }
  if (timing.slice_nanoseconds == 0 && timing.slice_messages == 0) {
    return wrong("--duration must be greater than 0, with at least 1 ns for each of the " +
                 std::to_string(timing.slices) + " --repeats");
  }
  return {};
}

Nanoseconds least_time(const Timing& timing) {
  if (timing.slice_messages != 0) return 0;
  return timing.warm_up_nanoseconds + timing.slices * timing.slice_nanoseconds;
}

std::string text_of_time(Nanoseconds time) {
  if (time < kSecond) return std::to_string(time / kMillisecond) + " ms";
  const std::uint64_t seconds = time / kSecond, minutes = seconds / 60, hours = minutes / 60;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (minutes < 120 && minutes != 60) return std::to_string(minutes) + " min";
  return std::to_string(hours) + " h" +
         (minutes % 60 == 0 ? "" : " " + std::to_string(minutes % 60) + " min");
}

}  // namespace gdr::perf
