#include "perf/load.h"

#include <algorithm>

namespace gdr::perf {
namespace {

constexpr std::uint64_t kUnderWay = 64 << 20;  // bytes of a side; 400 Gb/s send them in 1.3 ms
// Larger messages have a completion each, so that time is cut into repetitions more finely.
constexpr std::uint64_t kSignalEach = 8192;
constexpr std::uint32_t kSignalEvery = 64;

// How many members an aggregate has: as many as it can be initialised by.
struct Anything {
  template <typename T>
  operator T() const;
};
template <typename T, typename... Values>
consteval std::size_t count_members() {
  if constexpr (requires { T{Values{}..., Anything{}}; }) {
    return count_members<T, Values..., Anything>();
  } else {
    return sizeof...(Values);
  }
}

consteval std::size_t count_described() {
  std::size_t described = 0;
  Load::each_field([&](auto...) { ++described; });
  return described;
}
static_assert(count_described() == count_members<Load>(),
              "Load::each_field() must have a line for each field of a load");

bool is_one_at_a_time(const Load& load) {
  return load.measure == Measure::kLatency && !load.check && !is_staged(load);
}

}  // namespace

bool is_staged(const Load& load) {
  return load.near.kind == Place::Kind::kStaged || load.far.kind == Place::Kind::kStaged;
}

bool is_polled_in_memory(const Load& load) {
  return load.measure == Measure::kLatency && load.operation == Operation::kWrite && !load.check &&
         !load.events && !load.near.is_gpu() && !load.far.is_gpu();
}

bool is_compared_on_arrival(const Load& load) {
  return is_received(load.operation) && !is_staged(load);
}

bool needs_receives(const Load& load) {
  if (is_received(load.operation) || is_staged(load)) return true;
  return load.operation == Operation::kWrite && load.measure == Measure::kLatency &&
         !is_polled_in_memory(load);
}

bool arrives_unannounced(const Load& load) {
  return load.transport == Transport::kUc && !needs_receives(load);
}

bool must_give_way(const Load& load, std::uint32_t processors) {
  return (load.near.names_gpu() || load.far.names_gpu()) && processors <= 2 * load.threads;
}

std::uint32_t queue_pairs_of(const Load& load, std::uint32_t thread) {
  return load.queue_pairs / load.threads + (thread < load.queue_pairs % load.threads ? 1 : 0);
}

std::uint32_t queue_pairs_on(const Load& load, std::uint32_t port) {
  std::uint32_t pairs = 0;
  for (std::uint32_t i = port; i < load.threads; i += load.ports) pairs += queue_pairs_of(load, i);
  return pairs;
}

std::uint32_t requests_queued(const Load& load) {
  if (!is_one_at_a_time(load)) return load.depth;
  const std::uint32_t unsignaled = load.signal_every != 0 ? load.signal_every : kSignalEvery;
  return std::min(load.depth, unsignaled + 1);
}

std::uint32_t requests_under_way(const Load& load, std::uint64_t size) {
  const std::uint64_t room = kUnderWay / (std::max<std::uint64_t>(size, 1) * load.queue_pairs);
  // The last ones before a completion, and the batch that has it.
  const std::uint32_t least = std::max(load.signal_every, 2u) - 1 + load.batch;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::max<std::uint64_t>(room, least), load.depth));
}

std::uint32_t requests_for_completion(const Load& load, std::uint64_t size) {
  if (load.signal_every != 0) return load.signal_every;
  if (size >= kSignalEach) return 1;
  if (is_one_at_a_time(load)) return std::min(kSignalEvery, load.depth);
  if (load.batch >= kSignalEvery) return load.batch;
  return std::min(kSignalEvery, requests_under_way(load, size) - load.batch + 1);
}

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::kWrite:
      return "write";
    case Operation::kWriteWithImmediate:
      return "write-imm";
    case Operation::kRead:
      return "read";
    case Operation::kSend:
      return "send";
    case Operation::kFetchAndAdd:
      return "fetch-add";
    default:
      return "compare-swap";
  }
}

const char* name_of(Transport transport) {
  switch (transport) {
    case Transport::kRc:
      return "RC";
    case Transport::kUc:
      return "UC";
    case Transport::kUd:
      return "UD";
    default:
      return "XRC";
  }
}

const char* name_of(Measure measure) {
  switch (measure) {
    case Measure::kBandwidth:
      return "bandwidth";
    case Measure::kLatency:
      return "latency";
    default:
      return "rate";
  }
}

const char* name_of(Way way) {
  switch (way) {
    case Way::kDmaBuf:
      return "dma-buf";
    case Way::kPeerMemory:
      return "peer-memory";
    default:
      return "any";
  }
}

std::string text_of(const Place& place) {
  switch (place.kind) {
    case Place::Kind::kGpu:
      return "gpu:" + std::to_string(place.gpu);
    case Place::Kind::kGpuVmm:
      return "gpu-vmm:" + std::to_string(place.gpu);
    case Place::Kind::kStaged:
      return "staged:" + std::to_string(place.gpu);
    case Place::Kind::kPinned:
      return "pinned:" + std::to_string(place.gpu);
    default:
      return "host";
  }
}

}  // namespace gdr::perf
