// Datagrams from the program to others.
#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "rsockets/datagram_protocol.h"
#include "rsockets/datagram_socket.h"

namespace gdr::rsockets {
namespace {

// A peer that was started again has another queue pair, and the old one tells nobody that it is
// gone. So one that is silent is asked again, with a datagram by UDP, which it answers.
constexpr std::chrono::seconds kSilence{1};

constexpr std::size_t kMostPieces = 64;

}  // namespace

int DatagramSocket::check_destination(const sockaddr* to, socklen_t length, Name& name) const {
  if (to == nullptr) return -EFAULT;
  const socklen_t least = domain_ == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (length < least) return -EINVAL;
  if (to->sa_family != domain_) return -EAFNOSUPPORT;
  const std::optional<Name> found = name_of(to, length);
  if (!found || found->port == 0) return -EINVAL;
  // As the kernel has it: this host itself.
  name = *found;
  if (is_any(name.address)) {
    if (is_v4(name.address)) name.address[12] = 127;
    name.address[15] = 1;
  }
  return is_group(name.address) ? -EOPNOTSUPP : 0;
}

bool DatagramSocket::by_udp(DatagramPeer& peer) {
  if (!peer.queue_pair) return true;
  const auto now = Clock::now();
  return now - peer.heard > kSilence && now - peer.asked > kSilence;
}

// A negated errno value. EAGAIN: the UDP socket is full.
ssize_t DatagramSocket::send_by_udp(DatagramPeer& peer, std::span<const iovec> pieces,
                                    bool carries_data) {
  const Header header =
      encode(Announcement{carries_data, peer.endpoint->number(), peer.endpoint->device()});
  std::vector<iovec> all{{const_cast<std::uint8_t*>(header.bytes().data()), header.bytes().size()}};
  all.insert(all.end(), pieces.begin(), pieces.end());
  sockaddr_storage to{};
  msghdr message{};
  message.msg_namelen = write_address(peer.name, static_cast<sa_family_t>(domain_), to);
  message.msg_name = &to;
  message.msg_iov = all.data();
  message.msg_iovlen = all.size();
  if (sendmsg(udp_.get(), &message, MSG_NOSIGNAL) < 0) return -errno;
  if (carries_data) peer.asked = Clock::now();
  return 0;
}

bool DatagramSocket::can_send() const {
  return std::ranges::all_of(endpoints_, [](const auto& endpoint) { return endpoint->can_send(); });
}

// -EAGAIN: not yet.
ssize_t DatagramSocket::send_once(const Name& to, std::span<const iovec> pieces,
                                  std::size_t length) {
  if (error_ != 0) return -take_error();
  if (!may_write_) return -EPIPE;
  DatagramPeer& peer = peers_.at(to);
  if (peer.endpoint == nullptr) {
    if (const int error = endpoint_towards(to, peer.endpoint); error != 0) return error;
  }
  DatagramEndpoint& endpoint = *peer.endpoint;
  const bool v4 = is_v4(endpoint.name().address) && is_v4(endpoint.device());
  if (length + header_room(v4) > endpoint.largest_packet()) return -EMSGSIZE;
  if (!endpoint.works()) return -EIO;
  if (by_udp(peer)) {
    const ssize_t sent = send_by_udp(peer, pieces, true);
    return sent < 0 ? sent : static_cast<ssize_t>(length);
  }
  if (!endpoint.can_send()) return -EAGAIN;
  if (!peer.handle) {
    const int error = endpoint.reach(peer.name, peer.device, peer.handle);
    if (error != 0) return -error;
  }
  const Header header = encode(endpoint.name());
  const int error = endpoint.send(peer.handle.get(), *peer.queue_pair, header.bytes(), pieces);
  return error != 0 ? -EIO : static_cast<ssize_t>(length);
}

ssize_t DatagramSocket::send(std::span<const iovec> bytes, int flags, const sockaddr* to,
                             socklen_t length) {
  if ((flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_CONFIRM)) != 0) return -EOPNOTSUPP;
  if (bytes.size() > kMostPieces) return -EMSGSIZE;
  Lock lock(mutex_);
  Name name;
  if (to != nullptr) {
    if (const int error = check_destination(to, length, name); error != 0) return error;
  } else if (connected_) {
    name = *connected_;
  } else {
    return -EDESTADDRREQ;
  }
  std::size_t total = 0;
  for (const iovec& piece : bytes) {
    // Nothing that long can be sent, and the sum of such may wrap.
    if (piece.iov_len > kLargestPacket) return -EMSGSIZE;
    total += piece.iov_len;
  }
  // Whoever does not know its peer yet, or only sends, learns here what others announce.
  progress();
  const DatagramPeer* known = peers_.find(name);
  if (known == nullptr || !known->queue_pair) take_packets();
  const auto end = send_until();
  for (;;) {
    const ssize_t sent = send_once(name, bytes, total);
    if (sent != -EAGAIN || (end && Clock::now() >= *end)) return sent;
    if (nonblocking(flags)) {
      take_messages();
      const ssize_t again = send_once(name, bytes, total);
      is_blocked_ = again == -EAGAIN;
      return again;
    }
    // A full UDP socket wakes nobody here; it is empty before long.
    const auto until = Clock::now() + std::chrono::milliseconds(10);
    const int error = wait(
        lock, false, [this] { return can_send(); }, until);
    if (error != 0 && error != -EAGAIN) return error;
  }
}

}  // namespace gdr::rsockets
