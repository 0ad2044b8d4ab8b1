#include "bare_pair.h"

#include <arpa/inet.h>
#include <netinet/udp.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

namespace gdr::bench {
namespace {

constexpr int kSocketBuffer = 8 << 20;  // as src/stand_ins/net asks for
constexpr int kPatience = 5000;         // milliseconds

// What both sides tell each other. Both run this program on one machine: no byte order.
struct Greeting {
  std::uint64_t latency, size, packet, count;
  sockaddr_in udp;
};

Result<sockaddr_in> address_of(const std::string& text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, text.c_str(), &address.sin_addr) == 1) return address;
  return Error{EINVAL, text + ": no IPv4 address"};
}

const sockaddr* plain(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

bool set(int socket, int level, int name, int value) {
  return setsockopt(socket, level, name, &value, sizeof value) == 0;
}

bool move_all(int socket, Greeting* greeting, bool out) {
  auto* bytes = reinterpret_cast<char*>(greeting);
  const ssize_t moved = out ? ::send(socket, bytes, sizeof *greeting, MSG_NOSIGNAL)
                            : ::recv(socket, bytes, sizeof *greeting, MSG_WAITALL);
  return moved == static_cast<ssize_t>(sizeof *greeting);
}

}  // namespace

Result<BarePair> BarePair::meet(const BareOptions& options) {
  BarePair pair;
  pair.options_ = options;
  if (Result<void> opened = pair.open_udp(); !opened) return opened.error();
  if (Result<void> met = pair.meet_over_tcp(); !met) return met.error();
  if (Result<void> exchanged = pair.exchange(); !exchanged) return exchanged.error();
  return pair;
}

Result<void> BarePair::open_udp() {
  const bool server = options_.host.empty();
  const char* usual = server ? "127.10.0.1" : "127.10.0.2";
  const Result<sockaddr_in> own = address_of(options_.bind.empty() ? usual : options_.bind, 0);
  if (!own) return own.error();
  socket_.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int socket = socket_.get();
  for (const auto& [forced, asked] :
       {std::pair(SO_RCVBUFFORCE, SO_RCVBUF), std::pair(SO_SNDBUFFORCE, SO_SNDBUF)}) {
    if (!set(socket, SOL_SOCKET, forced, kSocketBuffer)) {
      set(socket, SOL_SOCKET, asked, kSocketBuffer);
    }
  }
  if (!set(socket, SOL_UDP, UDP_GRO, options_.segmentation ? 1 : 0) ||
      !set(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) ||
      bind(socket, plain(*own), sizeof *own) != 0) {
    return from_errno("UDP socket");
  }
  return {};
}

Result<void> BarePair::meet_over_tcp() {
  const bool server = options_.host.empty();
  const Result<sockaddr_in> at = address_of(server ? "0.0.0.0" : options_.host, options_.port);
  if (!at) return at.error();
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!server) {
    if (connect(socket.get(), plain(*at), sizeof *at) != 0) return from_errno("connect");
    control_ = std::move(socket);
    return {};
  }
  if (!set(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1) ||
      bind(socket.get(), plain(*at), sizeof *at) != 0 || listen(socket.get(), 1) != 0) {
    return from_errno("TCP port " + std::to_string(options_.port));
  }
  control_.reset(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!control_) return from_errno("accept");
  return {};
}

Result<void> BarePair::exchange() {
  Greeting own{options_.latency ? 1u : 0u, options_.size, options_.packet, options_.count, {}};
  socklen_t length = sizeof own.udp;
  if (getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&own.udp), &length) != 0) {
    return from_errno("getsockname");
  }
  Greeting theirs{};
  if (!move_all(control_.get(), &own, true) || !move_all(control_.get(), &theirs, false)) {
    return Error{EPROTO, "the other side ended"};
  }
  if (theirs.latency != own.latency) return Error{EPROTO, "the other side measures another thing"};
  other_ = theirs.udp;
  if (options_.host.empty()) {
    options_.size = theirs.size;
    options_.packet = theirs.packet;
    options_.count = theirs.count;
  }
  return {};
}

bool BarePair::send(const iovec* pieces, std::size_t count, std::uint16_t segment) const {
  msghdr message{};
  message.msg_name = const_cast<sockaddr_in*>(&other_);
  message.msg_namelen = sizeof other_;
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = count;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof segment)]{};
  if (segment != 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof segment);
    std::memcpy(CMSG_DATA(header), &segment, sizeof segment);
  }
  while (sendmsg(socket_.get(), &message, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

ssize_t BarePair::receive_now(void* bytes, std::size_t room, std::uint32_t* segment) const {
  iovec piece{bytes, room};
  sockaddr_in from;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(socket_.get(), &message, MSG_DONTWAIT);
  if (got < 0) return -1;
  *segment = static_cast<std::uint32_t>(got);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_UDP && header->cmsg_type == UDP_GRO) {
    int value = 0;
    std::memcpy(&value, CMSG_DATA(header), sizeof value);
    *segment = static_cast<std::uint32_t>(value);
  }
  return got;
}

// Spins as a polling program does, and sleeps only when the other one has long been silent.
ssize_t BarePair::receive(void* bytes, std::size_t room, std::uint32_t* segment) const {
  constexpr std::uint32_t kSpins = 1u << 16;
  while (true) {
    for (std::uint32_t spin = 0; spin < kSpins; ++spin) {
      if (const ssize_t got = receive_now(bytes, room, segment); got >= 0) return got;
    }
    pollfd there{socket_.get(), POLLIN, 0};
    if (poll(&there, 1, kPatience) <= 0) return -1;
  }
}

}  // namespace gdr::bench
