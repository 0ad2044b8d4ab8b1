#include "net/registered_bytes.h"

#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

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
using KernelCopy = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                               unsigned long);
bool copy_by_kernel(KernelCopy copy, std::uint64_t there, const void* here, std::size_t length) {
  const iovec local{const_cast<void*>(here), length};
  const iovec remote{reinterpret_cast<void*>(there), length};
  return copy(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(length);
}

std::uint64_t address_of(const void* bytes) { return reinterpret_cast<std::uint64_t>(bytes); }

}  // namespace

bool read_registered(const rnic::Place& from, std::span<std::byte> to) {
  if (to.empty()) return true;
  switch (from.reach) {
    case rnic::Reach::kNothing:
      std::memset(to.data(), 0, to.size());
      return true;
    case rnic::Reach::kOnDemand:
      return copy_by_kernel(process_vm_readv, from.address, to.data(), to.size());
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
      return copy_by_kernel(process_vm_writev, to.address, from.data(), from.size());
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
