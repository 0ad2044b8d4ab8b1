// Bytes from the program to a stream socket's peer.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rsockets/stream_socket.h"

namespace gdr::rsockets {
namespace {

// A large send begins with small messages, so that the peer reads while the rest is copied.
constexpr std::uint32_t kFirstMessage = 2048;
constexpr std::uint32_t kLargestMessage = 65536;

// Copies `to.size()` bytes that begin `skip` bytes into `from`.
void gather(std::span<const iovec> from, std::size_t skip, std::span<std::uint8_t> to) {
  for (const iovec& piece : from) {
    if (to.empty()) return;
    if (skip >= piece.iov_len) {
      skip -= piece.iov_len;
      continue;
    }
    const std::size_t count = std::min(piece.iov_len - skip, to.size());
    std::memcpy(to.data(), static_cast<const std::uint8_t*>(piece.iov_base) + skip, count);
    to = to.subspan(count);
    skip = 0;
  }
}

}  // namespace

bool StreamSocket::can_send() {
  return send_slots_ > 0 && send_ring_.free() >= kSmallestSendBytes && send_credits_.left() > 0 &&
         targets_.room() > 0;
}

// 0: there is room for a message.
int StreamSocket::wait_to_send(Lock& lock, bool nonblocking) {
  const auto done = [this] { return !connected() || !may_write_ || can_send(); };
  // Completions free what was sent before, so they are looked at before the ring is full.
  if (connected() && may_write_ && can_send()) return 0;
  if (const int error = wait(lock, nonblocking, done, send_until()); error != 0) {
    is_blocked_ = error == -EAGAIN;
    return error;
  }
  if (connected() && may_write_) return 0;
  if (wrote_last_) return -EPIPE;
  return error_ != 0 ? -take_error() : -ECONNRESET;
}

int StreamSocket::post_bytes(std::span<const iovec> bytes, std::size_t skip, std::uint32_t length,
                             const RemoteRange& to, const Immediate* message) {
  --send_slots_;
  int error = 0;
  if (length <= endpoint_->inline_bytes() && length <= 512) {
    std::uint8_t small[512];
    gather(bytes, skip, std::span(small).first(length));
    error = endpoint_->post_inline(std::span(small).first(length), to, message, 0);
  } else {
    const SendRing::Pieces pieces = send_ring_.place(length);
    const std::span<std::uint8_t> memory = endpoint_->send_memory().bytes();
    gather(bytes, skip, memory.subspan(pieces.first.offset, pieces.first.length));
    gather(bytes, skip + pieces.first.length,
           memory.subspan(pieces.second.offset, pieces.second.length));
    error = endpoint_->post_ring(pieces, to, message);
  }
  if (error != 0) fail(EIO);
  return error;
}

// The peer learns of new mappings before the data behind them.
int StreamSocket::tell_mappings(Lock& lock, bool nonblocking) {
  while (const std::optional<Mapping> next = mappings_.untold()) {
    if (const int error = wait_to_send(lock, nonblocking); error != 0) return error;
    auto entry = encode_mapping(next->offset, next->range, peer_.big_endian);
    const iovec bytes{entry.data(), entry.size()};
    const std::uint64_t at = std::uint64_t{peer_.targets.length} * kTargetBytes +
                             std::uint64_t{next->index} * kMappingBytes;
    const RemoteRange to{peer_.targets.address + at, peer_.targets.key, kMappingBytes};
    const Immediate message{Operation::kMapping, next->index};
    send_credits_.spend();
    if (post_bytes({&bytes, 1}, 0, kMappingBytes, to, &message) != 0) return -EIO;
    mappings_.told();
  }
  return 0;
}

// An address is ignored, as by TCP: the peer is who it is.
ssize_t StreamSocket::send(std::span<const iovec> bytes, int flags, const sockaddr* /*to*/,
                           socklen_t /*length*/) {
  if ((flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE | MSG_EOR)) != 0) return -EOPNOTSUPP;
  Lock lock(mutex_);
  const bool no_wait = nonblocking(flags);
  if (opening()) {
    if (const int error = finish_opening(lock, no_wait); error != 0) return error;
  }
  if (wrote_last_) return -EPIPE;
  if (!endpoint_ || (!connected() && !receive_ring_)) return -ENOTCONN;
  if (!connected()) return error_ != 0 ? -take_error() : -EPIPE;
  std::size_t total = 0;
  for (const iovec& piece : bytes) total += piece.iov_len;
  int error = tell_mappings(lock, no_wait);
  std::size_t sent = 0;
  std::uint32_t largest = kFirstMessage;
  while (error == 0 && sent < total) {
    error = wait_to_send(lock, no_wait);
    if (error != 0) break;
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(
        total - sent, std::min({largest, send_ring_.free(), targets_.room()})));
    largest = std::min(largest * 2, kLargestMessage);
    send_credits_.spend();
    const Immediate message{Operation::kData, count};
    if (post_bytes(bytes, sent, count, targets_.take(count), &message) != 0) {
      error = -take_error();
      break;
    }
    sent += count;
  }
  return sent > 0 || error == 0 ? static_cast<ssize_t>(sent) : error;
}

}  // namespace gdr::rsockets
