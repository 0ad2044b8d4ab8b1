#include "perf/limits/gpu_copy.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "participants/memory.h"
#include "perf/statistics/figure.h"

namespace gdr::perf {
namespace {

using participants::Gpu;
using participants::Memory;
using participants::MemoryKind;

constexpr Nanoseconds kSlice = 20 * kMillisecond;
constexpr int kSlices = 5;
constexpr std::uint32_t kMostInFlight = 16;
constexpr std::uint64_t kMostBytes = 256 << 20;  // per end; one message may be larger
constexpr Nanoseconds kPatience = 60 * kSecond;  // for a driver that wakes up GPUs first

Error failed(const Gpu& gpu, const char* call, cuda::CUresult result) {
  return {EIO, std::string(call) + ": " + gpu.driver->describe(result)};
}

// Memory of one end, usable by `gpu`.
struct End {
  std::optional<Memory> memory;
  const cuda::Driver* pinned_by = nullptr;

  End() = default;
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() {
    if (pinned_by != nullptr) (void)pinned_by->mem_host_unregister(pointer());
  }
  void* pointer() const { return reinterpret_cast<void*>(memory->address()); }

  Result<void> open(const Place& place, std::uint64_t bytes, const Gpu& gpu, int ordinal) {
    const bool is_host = !place.is_gpu();
    Result<Memory> made =
        is_host || place.gpu == ordinal
            ? Memory::allocate(is_host ? MemoryKind::kHost : MemoryKind::kDevice, bytes, gpu)
            : Memory::allocate_on(place.gpu, bytes, gpu);
    if (!made) return made.error();
    memory = *std::move(made);
    if (!is_host) return {};
    if (auto result = gpu.driver->mem_host_register(pointer(), memory->size(), 0)) {
      return failed(gpu, "cuMemHostRegister", result);
    }
    pinned_by = gpu.driver;
    return {};
  }
};

// One stream; waits for the oldest copy in flight.
class Copies {
 public:
  Copies(const Gpu& gpu, std::uint64_t size, std::uint32_t in_flight)
      : gpu_(gpu), size_(size), in_flight_(in_flight) {}
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies() {
    for (cuda::CUevent event : events_) (void)gpu_.driver->event_destroy(event);
    if (stream_ != nullptr) (void)gpu_.driver->stream_destroy(stream_);
  }

  Result<void> open() {
    if (auto result = gpu_.driver->stream_create(&stream_, cuda::CU_STREAM_NON_BLOCKING)) {
      return failed(gpu_, "cuStreamCreate", result);
    }
    for (std::uint32_t i = 0; i < in_flight_; ++i) {
      cuda::CUevent event = nullptr;
      if (auto result = gpu_.driver->event_create(&event, cuda::CU_EVENT_DISABLE_TIMING)) {
        return failed(gpu_, "cuEventCreate", result);
      }
      events_.push_back(event);
    }
    return {};
  }

  // Bytes per second in one slice.
  Result<double> run(std::uint64_t to, std::uint64_t from) {
    const std::uint64_t slots = events_.size();
    if (slots == 0) return Error{EINVAL, "at least one copy must be in flight"};
    const Nanoseconds begin = now();
    std::uint64_t begun = 0, ended = 0;
    Nanoseconds time = begin;
    for (; time - begin < kSlice || ended < begun; time = now()) {
      for (; time - begin < kSlice && begun - ended < slots; ++begun) {
        const std::uint64_t at = begun % slots * size_;
        if (auto result = gpu_.driver->memcpy_async(to + at, from + at, size_, stream_)) {
          return failed(gpu_, "cuMemcpyAsync", result);
        }
        if (auto result = gpu_.driver->event_record(events_[begun % slots], stream_)) {
          return failed(gpu_, "cuEventRecord", result);
        }
      }
      if (auto result = gpu_.driver->event_synchronize(events_[ended % slots])) {
        return failed(gpu_, "cuEventSynchronize", result);
      }
      ++ended;
    }
    return static_cast<double>(ended * size_) * 1e9 / static_cast<double>(time - begin);
  }

 private:
  const Gpu& gpu_;
  const std::uint64_t size_;
  const std::uint32_t in_flight_;
  cuda::CUstream stream_ = nullptr;
  std::vector<cuda::CUevent> events_;
};

Result<CopyOrder::Reply> carry_out(const CopyOrder& order) {
  const Load& load = order.load;
  if (!has_bare_copies(load) || load.size == 0) return Error{EINVAL, "nothing to copy"};
  const int ordinal = load.near.is_gpu() ? load.near.gpu : load.far.gpu;
  const Result<Gpu> gpu = participants::open_gpu(order.cuda, ordinal);
  if (!gpu) return gpu.error();
  const auto room = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kMostBytes / load.size, 1, kMostInFlight));
  const std::uint32_t in_flight = std::min(load.depth, room);
  const bool fetches = load.operation == Operation::kRead;
  End near, far;
  if (auto done = near.open(load.near, in_flight * load.size, *gpu, ordinal); !done) {
    return done.error();
  }
  if (auto done = far.open(load.far, in_flight * load.size, *gpu, ordinal); !done) {
    return done.error();
  }
  Copies copies(*gpu, load.size, in_flight);
  if (Result<void> done = copies.open(); !done) return done.error();
  const std::uint64_t to = (fetches ? near : far).memory->address();
  const std::uint64_t from = (fetches ? far : near).memory->address();
  std::vector<double> rates;
  for (int slice = 0; slice <= kSlices; ++slice) {
    const Result<double> rate = copies.run(to, from);
    if (!rate) return rate.error();
    if (slice > 0) rates.push_back(*rate);  // the first one warms up
  }
  return CopyOrder::Reply{make_figure(rates).median};
}

}  // namespace

bool has_bare_copies(const Load& load) {
  const auto is_copied = [](const Place& place) { return place.kind != Place::Kind::kStaged; };
  return (load.near.is_gpu() || load.far.is_gpu()) && is_copied(load.near) && is_copied(load.far) &&
         !is_atomic(load.operation) && !load.both_ways;
}

Result<GpuCopier> GpuCopier::start(const std::string& program) {
  Result<process::Worker> worker = process::Worker::start(program, {kCommand});
  if (!worker) return worker.error();
  Talk talk(worker->take_socket());
  return GpuCopier(*std::move(worker), std::move(talk));
}

Result<double> GpuCopier::measure(const std::string& cuda, const Load& load) {
  const Result<CopyOrder::Reply> reply = talk_.call(CopyOrder{cuda, load}, kPatience);
  if (!reply) return reply.error();
  return reply->bytes_per_second;
}

int GpuCopier::main() {
  Result<UniqueFd> socket = process::Worker::own_socket();
  if (!socket) return 2;
  Talk talk(*std::move(socket));
  for (;;) {
    const Result<process::Received> order = talk.receive_any(process::kNoLimit);
    if (!order) return order.error().code == ECONNRESET ? 0 : 1;
    if (!talk.answer(*order, [](const CopyOrder& asked) { return carry_out(asked); })) return 1;
  }
}

}  // namespace gdr::perf
