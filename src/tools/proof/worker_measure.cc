// Worker: short measurements. Times are of the monotonic clock; a median of many, since single runs
// are skewed by everything else on the machine.
#include <algorithm>
#include <optional>

#include "proof/worker.h"

namespace gdr::proof {
namespace {

constexpr std::uint32_t kWait = 10'000;  // ms for one completion of a measurement
constexpr std::size_t kMostSamples = 100'000;

Nanoseconds median(std::vector<Nanoseconds>& samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

Error unfinished(const Completion& completion) {
  if (!completion.seen) return {ETIMEDOUT, "no completion during the measurement"};
  return {EIO, "completion with error during the measurement: " + completion.status_text};
}

constexpr Nanoseconds kTokenTimeout = 20 * kSecond;
const Bytes kToken{std::byte{1}};

Result<void> take_token(Channel& link) {
  Result<Bytes> token = link.receive(kTokenTimeout);
  if (!token) return Error{token.error().code, "the other worker gave up"};
  return {};
}

}  // namespace

Result<MeasureWrites::Reply> Worker::handle(const MeasureWrites& request) {
  Result<Queue*> queue = find_queue(request.queue);
  if (!queue) return queue.error();
  if (request.depth == 0 || request.depth > 64) return Error{EINVAL, "depth outside 1..64"};
  Execute write;
  write.operation = Operation::kWrite;
  write.range = request.range;
  write.remote_address = request.remote_address;
  write.rkey = request.rkey;

  std::vector<Nanoseconds> samples;
  MeasureWrites::Reply reply;
  std::uint64_t posted = 0;
  const Nanoseconds start = now();
  const Nanoseconds end = start + request.milliseconds * kMillisecond;
  Nanoseconds time = start;
  while (time < end || reply.writes < posted) {
    while (time < end && posted - reply.writes < request.depth) {
      if (Result<void> done = post(**queue, write); !done) return done.error();
      ++posted;
    }
    Result<Completion> completion = await(**queue, false, kWait);
    if (!completion) return completion.error();
    if (!completion->ok()) return unfinished(*completion);
    ++reply.writes;
    const Nanoseconds after = now();
    if (request.depth == 1 && samples.size() < kMostSamples) samples.push_back(after - time);
    time = after;
  }
  reply.nanoseconds = time - start;
  reply.median_nanoseconds = median(samples);
  return reply;
}

Result<void> Worker::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                          cuda::CUstream stream) {
  if (auto result = gpu_.driver->memcpy_async(to, from, bytes, stream)) {
    return Error{EIO, "cuMemcpyAsync: " + gpu_.driver->describe(result)};
  }
  return {};
}

namespace {

// A stream of the measurement's own, and its end on every path.
class Stream {
 public:
  explicit Stream(const cuda::Driver* driver) : driver_(driver) {}
  ~Stream() {
    if (stream_) driver_->stream_destroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Result<void> open() {
    if (!driver_) return Error{ENODEV, "no GPU"};
    if (auto result = driver_->stream_create(&stream_, cuda::CU_STREAM_NON_BLOCKING)) {
      return Error{EIO, "cuStreamCreate: " + driver_->describe(result)};
    }
    return {};
  }
  Result<void> wait() {
    if (auto result = driver_->stream_synchronize(stream_)) {
      return Error{EIO, "cuStreamSynchronize: " + driver_->describe(result)};
    }
    return {};
  }
  cuda::CUstream get() const { return stream_; }

 private:
  const cuda::Driver* driver_;
  cuda::CUstream stream_ = nullptr;
};

// Pins the bounce buffer as staging programs do: copies from pageable memory are slower and not
// asynchronous, and the comparison would flatter the direct way.
class Pinned {
 public:
  Pinned(const cuda::Driver* driver, const Memory& memory)
      : driver_(driver), address_(reinterpret_cast<void*>(memory.address())) {
    pinned_ = driver && !driver->mem_host_register(address_, memory.size(), 0);
  }
  ~Pinned() {
    if (pinned_) driver_->mem_host_unregister(address_);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  Result<void> check() const {
    if (pinned_) return {};
    return Error{ENOMEM, "the bounce buffer cannot be pinned (cuMemHostRegister)"};
  }

 private:
  const cuda::Driver* driver_;
  void* address_;
  bool pinned_ = false;
};

}  // namespace

// Chunk i+1 is copied out of the device while chunk i is on the wire; with one chunk this is the
// serial way: copy, write, copy.
Result<StagedSend::Reply> Worker::handle(const StagedSend& request) {
  Result<Queue*> queue = find_queue(request.queue);
  if (!queue) return queue.error();
  Result<Buffer*> source = find_range(request.source);
  if (!source) return source.error();
  Result<Buffer*> bounce = find_range(request.bounce);
  if (!bounce) return bounce.error();
  const bool through_bounce = is_device((*source)->memory.kind());
  if (request.chunk == 0 || (through_bounce && request.bounce.length < request.source.length)) {
    return Error{EINVAL, "bad chunk or bounce buffer"};
  }
  Stream stream(gpu_.driver);
  std::optional<Pinned> pinned;
  if (through_bounce) {
    if (Result<void> opened = stream.open(); !opened) return opened.error();
    pinned.emplace(gpu_.driver, (*bounce)->memory);
    if (Result<void> done = pinned->check(); !done) return done.error();
  }
  const std::uint64_t from = (*source)->memory.address() + request.source.from;
  const std::uint64_t to = (*bounce)->memory.address() + request.bounce.from;
  const auto start_copy = [&](std::uint64_t offset) -> Result<void> {
    if (!through_bounce || offset >= request.source.length) return {};
    const std::uint64_t size = std::min(request.chunk, request.source.length - offset);
    return copy(to + offset, from + offset, size, stream.get());
  };
  const auto end_copy = [&]() -> Result<void> {
    if (!through_bounce) return {};
    return stream.wait();
  };

  std::vector<Nanoseconds> samples;
  for (std::uint32_t repeat = 0; repeat < request.repeats; ++repeat) {
    const Nanoseconds start = now();
    if (Result<void> done = start_copy(0); !done) return done.error();
    for (std::uint64_t offset = 0; offset < request.source.length; offset += request.chunk) {
      const std::uint64_t size = std::min(request.chunk, request.source.length - offset);
      if (Result<void> done = end_copy(); !done) return done.error();
      if (Result<void> done = start_copy(offset + request.chunk); !done) return done.error();
      Execute write;
      write.operation = Operation::kWrite;
      write.range = through_bounce
                        ? Range{request.bounce.buffer, request.bounce.from + offset, size}
                        : Range{request.source.buffer, request.source.from + offset, size};
      write.remote_address = request.remote_address + offset;
      write.rkey = request.rkey;
      if (Result<void> done = post(**queue, write); !done) return done.error();
      Result<Completion> completion = await(**queue, false, kWait);
      if (!completion) return completion.error();
      if (!completion->ok()) return unfinished(*completion);
      if (Result<void> told = link_.send(kToken); !told) return told.error();
    }
    // The other side has everything where it belongs.
    if (Result<void> done = take_token(link_); !done) return done.error();
    samples.push_back(now() - start);
  }
  return StagedSend::Reply{median(samples)};
}

Result<Nothing> Worker::handle(const StagedReceive& request) {
  Result<Buffer*> bounce = find_range(request.bounce);
  if (!bounce) return bounce.error();
  Result<Buffer*> destination = find_range(request.destination);
  if (!destination) return destination.error();
  const bool through_bounce = request.destination.length > 0;
  if (request.chunk == 0 || request.bounce.length == 0) return Error{EINVAL, "bad chunk"};
  if (through_bounce && request.destination.length < request.bounce.length) {
    return Error{EINVAL, "destination shorter than what arrives"};
  }
  Stream stream(gpu_.driver);
  std::optional<Pinned> pinned;
  if (through_bounce) {
    if (Result<void> opened = stream.open(); !opened) return opened.error();
    pinned.emplace(gpu_.driver, (*bounce)->memory);
    if (Result<void> done = pinned->check(); !done) return done.error();
  }
  for (std::uint32_t repeat = 0; repeat < request.repeats; ++repeat) {
    for (std::uint64_t offset = 0; offset < request.bounce.length; offset += request.chunk) {
      const std::uint64_t size = std::min(request.chunk, request.bounce.length - offset);
      if (Result<void> done = take_token(link_); !done) return done.error();
      if (!through_bounce) continue;
      // Goes on while the next chunk is on the wire.
      if (Result<void> done =
              copy((*destination)->memory.address() + request.destination.from + offset,
                   (*bounce)->memory.address() + request.bounce.from + offset, size, stream.get());
          !done) {
        return done.error();
      }
    }
    if (through_bounce) {
      if (Result<void> done = stream.wait(); !done) return done.error();
    }
    if (Result<void> told = link_.send(kToken); !told) return told.error();
  }
  return Nothing{};
}

}  // namespace gdr::proof
