// Pair: a short bandwidth and latency, beside the same transfer staged through host memory.
#include <algorithm>

#include "proof/pair.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kLarge = 8 << 20;
constexpr std::uint64_t kChunk = 1 << 20;
constexpr std::uint32_t kInFlight = 4;
constexpr std::uint32_t kMilliseconds = 100;
constexpr std::uint32_t kRepeats = 9;

}  // namespace

void Pair::measure() {
  if (!lane_->connect(QueueKind::kRc)) return;
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
    Path path;
    name_devices(selection_, path);
    path.direction = direction;
    context_.listener.on_progress("measuring " + direction_text(path), done++, directions.size());
    Measurement measurement = measure_direction(*lane_, direction);
    static_cast<Path&>(measurement) = path;
    context_.listener.on_measurement(measurement);
    context_.report.measurements.push_back(measurement);
    if (!measurement.problem.empty()) {
      // The queue pairs may be in error after it.
      if (!lane_->connect(QueueKind::kRc)) break;
    }
  }
  lane_->disconnect();
}

Measurement Pair::measure_direction(Lane& lane, const Direction& direction) {
  Measurement result;
  result.size = kLarge;
  result.in_flight = kInFlight;
  const RegisteredBuffer& source = near_.buffers[direction.from];
  const RegisteredBuffer& target = far_.buffers[direction.to];
  const auto writes = [&](std::uint64_t size, std::uint32_t depth) -> Result<MeasureWrites::Reply> {
    MeasureWrites request;
    request.queue = near_.queue;
    request.range = {source.id, kGuard, size};
    request.remote_address = target.address + kGuard;
    request.rkey = target.rkey;
    request.depth = depth;
    request.milliseconds = kMilliseconds;
    return near_.client->call(request, kLongTimeout);
  };
  const auto give_up = [&](const Error& error) {
    result.problem = error.message;
    return result;
  };
  Result<MeasureWrites::Reply> small = writes(8, 1);
  if (!small) return give_up(small.error());
  result.small_nanoseconds = small->median_nanoseconds;
  Result<MeasureWrites::Reply> single = writes(kLarge, 1);
  if (!single) return give_up(single.error());
  result.direct_nanoseconds = single->median_nanoseconds;
  Result<MeasureWrites::Reply> many = writes(kLarge, kInFlight);
  if (!many) return give_up(many.error());
  if (many->nanoseconds > 0) {
    result.bytes_per_second = static_cast<double>(many->writes) * static_cast<double>(kLarge) *
                              1e9 / static_cast<double>(many->nanoseconds);
  }
  if (!is_device(direction.from) && !is_device(direction.to)) return result;
  Result<std::uint64_t> serial = measure_staged(lane, direction, kLarge);
  if (!serial) return give_up(serial.error());
  result.serial_nanoseconds = *serial;
  Result<std::uint64_t> doubled = measure_staged(lane, direction, kChunk);
  if (!doubled) return give_up(doubled.error());
  result.double_nanoseconds = *doubled;
  return result;
}

// The two workers run at once: one copies out and writes, the other copies in.
Result<std::uint64_t> Pair::measure_staged(Lane&, const Direction& direction, std::uint64_t chunk) {
  const RegisteredBuffer& source = near_.buffers[direction.from];
  const RegisteredBuffer& near_host = near_.buffers[MemoryKind::kHost];
  const RegisteredBuffer& far_host = far_.buffers[MemoryKind::kHost];
  const RegisteredBuffer& target = far_.buffers[direction.to];
  StagedReceive receive;
  receive.bounce = {far_host.id, kGuard, kLarge};
  receive.destination = {target.id, kGuard, is_device(direction.to) ? kLarge : 0};
  receive.chunk = chunk;
  receive.repeats = kRepeats;
  if (Result<void> begun = far_.client->begin(receive); !begun) return begun.error();

  StagedSend send;
  send.queue = near_.queue;
  send.source = {source.id, kGuard, kLarge};
  send.bounce = {near_host.id, kGuard, kLarge};
  send.remote_address = far_host.address + kGuard;
  send.rkey = far_host.rkey;
  send.chunk = chunk;
  send.repeats = kRepeats;
  Result<StagedSend::Reply> sent = near_.client->call(send, kLongTimeout);
  Result<Nothing> received = far_.client->finish<StagedReceive>(kLongTimeout);
  if (!sent) return sent.error();
  if (!received) return received.error();
  return sent->median_nanoseconds;
}

}  // namespace gdr::proof
