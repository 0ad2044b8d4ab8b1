// riomap() and riowrite(): the peer writes into the program's own memory, and we into the peer's.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "rsockets/stream_socket.h"

namespace gdr::rsockets {
namespace {

constexpr std::uint32_t kLargestWrite = 65536;

}  // namespace

off_t StreamSocket::map(void* buffer, std::size_t length, int protection, off_t offset) {
  const Lock lock(mutex_);
  if (!endpoint_ || (protection & ~(PROT_WRITE | PROT_NONE)) != 0) return -EINVAL;
  if (offset == -1) offset = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(buffer));
  const int error = mappings_.add(endpoint_->pd(), buffer, length, (protection & PROT_WRITE) != 0,
                                  static_cast<std::uint64_t>(offset));
  return error != 0 ? -error : offset;
}

int StreamSocket::unmap(void* buffer, std::size_t length) {
  const Lock lock(mutex_);
  return -mappings_.remove(buffer, length);
}

ssize_t StreamSocket::write_mapped(std::span<const std::uint8_t> bytes, off_t offset, int flags) {
  Lock lock(mutex_);
  const bool no_wait = nonblocking(flags);
  if (opening()) {
    if (const int error = finish_opening(lock, no_wait); error != 0) return error;
  }
  if (wrote_last_) return -EPIPE;
  if (!endpoint_) return -ENOTCONN;
  int error = tell_mappings(lock, no_wait);
  std::size_t sent = 0;
  while (error == 0 && sent < bytes.size()) {
    error = wait_to_send(lock, no_wait);
    if (error != 0) break;
    // The peer may change its table at any time, so it is read once for each piece.
    std::optional<RemoteRange> to = targets_.mapped_at(static_cast<std::uint64_t>(offset) + sent);
    if (!to) break;
    to->length = static_cast<std::uint32_t>(std::min<std::size_t>(
        bytes.size() - sent, std::min({to->length, kLargestWrite, send_ring_.free()})));
    const iovec piece{const_cast<std::uint8_t*>(bytes.data()) + sent, to->length};
    if (post_bytes({&piece, 1}, 0, to->length, *to, nullptr) != 0) {
      error = -take_error();
      break;
    }
    sent += to->length;
  }
  return sent > 0 || error == 0 ? static_cast<ssize_t>(sent) : error;
}

}  // namespace gdr::rsockets
