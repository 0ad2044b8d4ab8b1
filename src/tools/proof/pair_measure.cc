// Pair: a short bandwidth and latency, beside the same transfer staged through host memory: rows of
// `gdr perf`, so that the two agree.
#include <cmath>

#include "perf/load.h"
#include "proof/pair.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kSmall = 8, kLarge = 8 << 20, kChunk = 1 << 20;
constexpr std::uint32_t kInFlight = 4;
constexpr std::uint32_t kStagingBuffers = 2;

perf::Place place_of(MemoryKind memory, int gpu, bool staged) {
  if (!is_device(memory)) return {};
  const auto direct =
      memory == MemoryKind::kDevice ? perf::Place::Kind::kGpu : perf::Place::Kind::kGpuVmm;
  return {staged ? perf::Place::Kind::kStaged : direct, gpu};
}

perf::Way way_of(const std::optional<Registration>& registration) {
  if (!registration) return perf::Way::kAny;
  return *registration == Registration::kDmaBuf ? perf::Way::kDmaBuf : perf::Way::kPeerMemory;
}

std::uint64_t nanoseconds_of(double each) { return static_cast<std::uint64_t>(std::llround(each)); }

}  // namespace

void Pair::measure() {
  destroy_buffers();
  const MemoryKind device =
      works(MemoryKind::kDevice) ? MemoryKind::kDevice : MemoryKind::kDeviceVmm;
  std::vector<Direction> directions{{MemoryKind::kHost, MemoryKind::kHost}};
  if (works(device)) {
    directions.push_back({MemoryKind::kHost, device});
    directions.push_back({device, MemoryKind::kHost});
    directions.push_back({device, device});
  }
  std::uint64_t done = 0;
  for (const Direction& direction : directions) {
    if (context_.options.is_interrupted()) break;
    Path path;
    name_devices(selection_, path);
    path.direction = direction;
    context_.listener.on_progress("measuring " + direction_text(path), done++, directions.size());
    Measurement measurement = measure_direction(direction);
    static_cast<Path&>(measurement) = path;
    context_.listener.on_measurement(measurement);
    context_.report.measurements.push_back(measurement);
    if (!alive()) break;
  }
}

Measurement Pair::measure_direction(const Direction& direction) {
  Measurement result;
  result.size = kLarge;
  result.in_flight = kInFlight;
  const auto measured = [&](bool staged, perf::Measure measure, std::uint64_t size,
                            std::uint32_t depth) -> Measure::Reply {
    if (!result.problem.empty()) return {};
    perf::Load load;
    load.measure = measure;
    load.size = size;
    load.depth = depth;
    load.near = place_of(direction.from, selection_.near_gpu, staged);
    load.far = place_of(direction.to, selection_.far_gpu, staged);
    load.way = way_of(context_.options.registration);
    const Options& options = context_.options;
    Result<Measure::Reply> reply = near_.client->call(
        Measure{selection_.far.nic, selection_.far.port, options.soft, options.require_hardware,
                context_.far ? context_.far->server : ServerOfProof{}, load},
        kLongTimeout);
    if (reply) return *reply;
    result.problem = reply.error().message;
    return {};
  };
  const auto each = [&](bool staged, std::uint64_t size, std::uint32_t depth) {
    const double rate =
        measured(staged, perf::Measure::kBandwidth, size, depth).messages_per_second;
    return rate > 0 ? 1e9 / rate : 0;
  };
  // One after another, each from its posting to its completion.
  result.small_nanoseconds = nanoseconds_of(each(false, kSmall, 1));
  result.direct_nanoseconds = nanoseconds_of(each(false, kLarge, 1));
  const double in_flight = each(false, kLarge, kInFlight);
  if (in_flight > 0) result.bytes_per_second = static_cast<double>(kLarge) * 1e9 / in_flight;
  if (!is_device(direction.from) && !is_device(direction.to)) return result;
  result.serial_nanoseconds =
      nanoseconds_of(measured(true, perf::Measure::kLatency, kLarge, kStagingBuffers).nanoseconds);
  constexpr double kChunks = static_cast<double>(kLarge) / kChunk;
  result.double_nanoseconds = nanoseconds_of(kChunks * each(true, kChunk, kStagingBuffers));
  return result;
}

}  // namespace gdr::proof
