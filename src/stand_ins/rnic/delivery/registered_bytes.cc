#include "rnic/delivery/registered_bytes.h"

#include <sched.h>

#include <cerrno>
#include <cstring>

#include "memory/fault_guard.h"
#include "memory/own_memory.h"

namespace gdr::rnic {
namespace {

// By the kernel, which gives an error for memory that is not there.
bool copy_by_kernel(const void* from, const void* to, std::size_t length) {
  const iovec source{const_cast<void*>(from), length}, target{const_cast<void*>(to), length};
  return memory::copy_own({&source, 1}, {&target, 1}) == 0;
}

const void* pointer(std::uint64_t address) { return reinterpret_cast<const void*>(address); }
Side side_of(const void* bytes) { return {reinterpret_cast<std::uint64_t>(bytes), nullptr}; }

}  // namespace

int copy_by_client(memory::PeerMemoryClient& client, Side to, Side from, std::uint64_t length) {
  Result<memory::PeerMemoryClient::Ticket> ticket = client.start_copy(to, from, length);
  while (!ticket && ticket.error().code == EAGAIN) {
    sched_yield();
    ticket = client.start_copy(to, from, length);
  }
  if (!ticket) return ticket.error().code;
  while (true) {
    Result<bool> finished = client.finished(*ticket);
    if (!finished) return finished.error().code;
    if (*finished) return 0;
    sched_yield();
  }
}

bool read_registered(const Place& from, std::span<std::byte> to) {
  if (to.empty()) return true;
  switch (from.reach) {
    case Reach::kNothing:
      std::memset(to.data(), 0, to.size());
      return true;
    case Reach::kOnDemand:
      return copy_by_kernel(pointer(from.address), to.data(), to.size());
    default:
      break;
  }
  if (!from.cpu_reachable()) {
    return copy_by_client(from.memory->client(), side_of(to.data()),
                          from.memory->side_at(from.address), to.size()) == 0;
  }
  return memory::copy_if_there(to.data(), pointer(from.address), to.size());
}

bool write_registered(const Place& to, std::span<const std::byte> from) {
  if (from.empty()) return true;
  switch (to.reach) {
    case Reach::kNothing:
      return true;
    case Reach::kOnDemand:
      return copy_by_kernel(from.data(), pointer(to.address), from.size());
    default:
      break;
  }
  if (!to.cpu_reachable()) {
    return copy_by_client(to.memory->client(), to.memory->side_at(to.address), side_of(from.data()),
                          from.size()) == 0;
  }
  void* const there = reinterpret_cast<void*>(to.address);
  return memory::copy_if_there(there, from.data(), from.size());
}

}  // namespace gdr::rnic
