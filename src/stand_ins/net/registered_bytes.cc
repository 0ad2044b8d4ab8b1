#include "net/registered_bytes.h"

#include <sched.h>

#include <cstring>

#include "memory/own_memory.h"

namespace gdr::net {
namespace {

using Side = memory::PeerMemoryClient::Side;

bool copy_by_client(memory::PinnedMemory& memory, Side to, Side from, std::uint64_t length) {
  memory::PeerMemoryClient& client = memory.client();
  Result<memory::PeerMemoryClient::Ticket> ticket = client.start_copy(to, from, length);
  while (!ticket && ticket.error().code == EAGAIN) {
    sched_yield();
    ticket = client.start_copy(to, from, length);
  }
  if (!ticket) return false;
  while (true) {
    Result<bool> finished = client.finished(*ticket);
    if (!finished) return false;
    if (*finished) return true;
    sched_yield();
  }
}

// By the kernel, which gives an error for memory that is not there.
bool copy_by_kernel(const void* from, const void* to, std::size_t length) {
  const iovec source{const_cast<void*>(from), length}, target{const_cast<void*>(to), length};
  return memory::copy_own({&source, 1}, {&target, 1}) == 0;
}

const void* pointer(std::uint64_t address) { return reinterpret_cast<const void*>(address); }
std::uint64_t address_of(const void* bytes) { return reinterpret_cast<std::uint64_t>(bytes); }

}  // namespace

bool read_registered(const rnic::Place& from, std::span<std::byte> to) {
  if (to.empty()) return true;
  switch (from.reach) {
    case rnic::Reach::kNothing:
      std::memset(to.data(), 0, to.size());
      return true;
    case rnic::Reach::kOnDemand:
      return copy_by_kernel(pointer(from.address), to.data(), to.size());
    default:
      break;
  }
  if (!from.cpu_reachable()) {
    return copy_by_client(*from.memory, {address_of(to.data()), nullptr},
                          from.memory->side_at(from.address), to.size());
  }
  std::memcpy(to.data(), reinterpret_cast<const void*>(from.address), to.size());
  return true;
}

bool write_registered(const rnic::Place& to, std::span<const std::byte> from) {
  if (from.empty()) return true;
  switch (to.reach) {
    case rnic::Reach::kNothing:
      return true;
    case rnic::Reach::kOnDemand:
      return copy_by_kernel(from.data(), pointer(to.address), from.size());
    default:
      break;
  }
  if (!to.cpu_reachable()) {
    return copy_by_client(*to.memory, to.memory->side_at(to.address),
                          {address_of(from.data()), nullptr}, from.size());
  }
  std::memcpy(reinterpret_cast<void*>(to.address), from.data(), from.size());
  return true;
}

}  // namespace gdr::net
