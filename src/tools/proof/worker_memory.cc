// Worker: buffers, what they hold, and the owner's look at them.
#include <string.h>

#include <algorithm>

#include "participants/pattern.h"
#include "proof/worker.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kLargestBuffer = std::uint64_t{4} << 30;
// Sources up to this size hold other data first, so that stale reads show.
constexpr std::uint64_t kStaleCheck = 64 * 1024;
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

}  // namespace

Result<Worker::Buffer*> Worker::find_buffer(std::uint32_t id) {
  const auto found = buffers_.find(id);
  if (found == buffers_.end()) return Error{EINVAL, "no such buffer"};
  return &found->second;
}

Result<Worker::Buffer*> Worker::find_range(const Range& range) {
  Result<Buffer*> buffer = find_buffer(range.buffer);
  if (buffer && !(*buffer)->memory.contains(range.from, range.length)) {
    return Error{ERANGE, "range outside the buffer"};
  }
  return buffer;
}

Result<CreateBuffer::Reply> Worker::handle(const CreateBuffer& request) {
  if (!device_) return Error{EINVAL, "no device open"};
  if (request.size == 0 || request.size > kLargestBuffer) return Error{EINVAL, "bad buffer size"};
  CreateBuffer::Reply reply;
  Result<Memory> memory = Memory::allocate(request.memory, request.size, gpu_);
  if (!memory) {
    reply.stage = RegistrationStage::kAllocate;
    reply.code = memory.error().code;
    reply.detail = memory.error().message;
    return reply;
  }
  // A NIC without atomics may refuse the right to them.
  const int access = atomics_ ? kAccess | IBV_ACCESS_REMOTE_ATOMIC : kAccess;
  Result<rdma::MemoryRegion> region = participants::register_buffer(
      *device_, domain_.get(), *memory, request.registration, access, &reply.stage);
  if (!region) {
    reply.code = region.error().code;
    reply.detail = region.error().message;
    return reply;
  }
  reply.buffer = next_id_++;
  reply.address = memory->address();
  reply.rkey = (*region)->rkey;
  buffers_.emplace(reply.buffer, Buffer{*std::move(memory), *std::move(region)});
  return reply;
}

Result<Nothing> Worker::handle(const DestroyBuffer& request) {
  if (buffers_.erase(request.buffer) == 0) return Error{EINVAL, "no such buffer"};
  return Nothing{};
}

Result<Nothing> Worker::handle(const Prepare& request) {
  Result<Buffer*> buffer = find_range(request.range);
  if (!buffer) return buffer.error();
  Bytes bytes(request.range.length);
  participants::fill_pattern(request.seed, request.range.from, bytes);
  if (Result<void> done = (*buffer)->memory.write(request.range.from, bytes); !done) {
    return done.error();
  }
  return Nothing{};
}

Result<Nothing> Worker::handle(const Fill& request) {
  Result<Buffer*> buffer = find_range(request.range);
  if (!buffer) return buffer.error();
  Bytes bytes(request.range.length);
  const bool two_steps = request.previous_seed != 0 && bytes.size() <= kStaleCheck;
  for (std::uint64_t seed : {request.previous_seed, request.seed}) {
    if (seed == request.previous_seed && !two_steps) continue;
    participants::fill_pattern(seed, 0, bytes);
    Result<void> done = (*buffer)->memory.write(request.range.from, bytes);
    if (!done) return done.error();
  }
  return Nothing{};
}

Result<Nothing> Worker::handle(const Store& request) {
  Result<Buffer*> buffer = find_buffer(request.buffer);
  if (!buffer) return buffer.error();
  if (Result<void> done = (*buffer)->memory.write(request.from, request.bytes); !done) {
    return done.error();
  }
  return Nothing{};
}

Result<Damage> Worker::handle(const Examine& request) {
  Result<Buffer*> buffer = find_range(request.data);
  if (!buffer) return buffer.error();
  if (!request.literal.empty() && request.literal.size() != request.data.length) {
    return Error{EINVAL, "literal of another length"};
  }
  if (request.data.from < request.guard ||
      !(*buffer)->memory.contains(request.data.from + request.data.length, request.guard)) {
    return Error{ERANGE, "guard outside the buffer"};
  }
  Bytes expected = request.literal;
  if (expected.empty()) {
    expected.resize(request.data.length);
    participants::fill_pattern(request.seed, 0, expected);
  }
  const std::uint64_t from = request.data.from - request.guard;
  Bytes bytes(request.data.length + 2 * request.guard);
  if (Result<void> done = (*buffer)->memory.read(from, bytes); !done) return done.error();
  return participants::examine({bytes, request.guard, expected, request.before_seed, from,
                                request.literal.empty() ? request.previous_seed : 0});
}

}  // namespace gdr::proof
