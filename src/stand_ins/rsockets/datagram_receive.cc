// Datagrams from others to the program, by queue pair and by UDP. What strangers send is checked
// here: it costs them more than us, and reaches nobody's memory.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rsockets/datagram_protocol.h"
#include "rsockets/datagram_socket.h"

namespace gdr::rsockets {
namespace {

constexpr std::size_t kMostByUdp = 64;  // that wait for the program; others wait in the kernel
constexpr int kPacketsAtOnce = 64;

}  // namespace

// As many as there are slots, at most.
void DatagramSocket::take_messages() {
  for (const auto& endpoint : endpoints_) {
    while (const auto message = endpoint->poll()) take(*endpoint, *message);
  }
}

// A sender is who its packet's source says. Names on the loopback are no place for packets: there
// it is who has announced a queue pair at that place.
bool DatagramSocket::is_from(const Name& sender, const Address& source) {
  DatagramPeer* peer = peers_.find(sender);
  if (peer != nullptr) peer->heard = Clock::now();
  if (!is_loopback(sender.address)) return sender.address == source;
  return peer != nullptr && peer->queue_pair && peer->device == source;
}

void DatagramSocket::take(DatagramEndpoint& endpoint, const DatagramEndpoint::Message& message) {
  std::size_t header = 0;
  std::optional<Name> sender = decode_sender(message.bytes, header);
  if (sender) sender->scope = endpoint.name().scope;
  if (!sender || !may_read_ || !is_from(*sender, message.source) ||
      (connected_ && *connected_ != *sender)) {
    return endpoint.give_back(message.slot);
  }
  arrivals_.push_back({*sender, message.bytes.subspan(header), &endpoint, message.slot, {}});
  count_edge();
}

void DatagramSocket::take_packets() {
  for (int i = 0; i < kPacketsAtOnce && by_udp_ < kMostByUdp; ++i) {
    if (!take_packet()) return;
  }
}

// False: there is none.
bool DatagramSocket::take_packet() {
  // One byte more than any that we take: who sends longer ones sends none of ours.
  std::uint8_t packet[kLargestPacket + 1];
  sockaddr_storage source{};
  socklen_t length = sizeof source;
  const ssize_t size =
      recvfrom(udp_.get(), packet, sizeof packet, 0, reinterpret_cast<sockaddr*>(&source), &length);
  if (size < 0) {
    const bool nothing = errno == EAGAIN || errno == EINTR;
    if (nothing) return false;
    error_ = errno;  // of a connected socket: nobody is there
    count_edge();
    return false;
  }
  const std::optional<Name> from = name_of(reinterpret_cast<sockaddr*>(&source), length);
  const auto bytes = static_cast<std::size_t>(size);
  if (from && bytes < sizeof packet) handle_packet(*from, std::span(packet).first(bytes));
  return true;
}

void DatagramSocket::handle_packet(const Name& from, std::span<const std::uint8_t> packet) {
  std::size_t header = 0;
  const std::optional<Announcement> announced = decode_announcement(packet, header);
  if (!announced) return;
  DatagramPeer& peer = peers_.at(from);
  // Packets go back to where they came from and nowhere else. Only on this host, whose loopback has
  // no NIC, is the place another one.
  const Address device = is_loopback(from.address) ? announced->address : from.address;
  if (peer.device != device) peer.handle.reset();
  peer.device = device;
  peer.queue_pair = announced->queue_pair;
  peer.heard = Clock::now();
  if (!announced->carries_data) return;
  if (peer.endpoint == nullptr && endpoint_towards(from, peer.endpoint) != 0) return;
  send_by_udp(peer, {}, false);
  if (!may_read_) return;
  Arrival& arrival = arrivals_.emplace_back();
  arrival.from = from;
  arrival.own.assign(packet.begin() + static_cast<std::ptrdiff_t>(header), packet.end());
  arrival.data = arrival.own;
  ++by_udp_;
  count_edge();
}

void DatagramSocket::let_go(const Arrival& arrival) {
  if (arrival.endpoint != nullptr) {
    arrival.endpoint->give_back(arrival.slot);
  } else {
    --by_udp_;
  }
}

ssize_t DatagramSocket::receive(std::span<const iovec> into, int flags, sockaddr* from,
                                socklen_t* length, int* told) {
  constexpr int kKnown =
      MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC | MSG_WAITALL | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC;
  if ((flags & ~kKnown) != 0) return -EOPNOTSUPP;
  Lock lock(mutex_);
  const auto done = [this] { return !arrivals_.empty() || !may_read_ || error_ != 0; };
  if (arrivals_.empty()) {
    if (const int error = wait(lock, nonblocking(flags), done, receive_until()); error != 0)
      return error;
  }
  if (arrivals_.empty()) return error_ != 0 ? -take_error() : 0;
  const Arrival& arrival = arrivals_.front();
  std::span<const std::uint8_t> left = arrival.data;
  for (const iovec& piece : into) {
    const std::size_t count = std::min(piece.iov_len, left.size());
    if (count > 0) std::memcpy(piece.iov_base, left.data(), count);
    left = left.subspan(count);
  }
  const std::size_t whole = arrival.data.size();
  const std::size_t copied = whole - left.size();
  if (from != nullptr && length != nullptr) {
    sockaddr_storage name{};
    const socklen_t size = write_address(arrival.from, static_cast<sa_family_t>(domain_), name);
    std::memcpy(from, &name, std::min(*length, size));
    *length = size;
  }
  if (told != nullptr && !left.empty()) *told |= MSG_TRUNC;
  if ((flags & MSG_PEEK) == 0) {
    let_go(arrival);
    arrivals_.pop_front();
  }
  return static_cast<ssize_t>((flags & MSG_TRUNC) != 0 ? whole : copied);
}

}  // namespace gdr::rsockets
