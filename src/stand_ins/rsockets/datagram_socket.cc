#include "rsockets/datagram_socket.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/system_calls.h"
#include "rsockets/datagram_protocol.h"
#include "rsockets/settings.h"

namespace gdr::rsockets {
namespace {

constexpr std::size_t kPeers = 1024;
constexpr std::chrono::seconds kLongestClose{1};

}  // namespace

DatagramSocket::DatagramSocket(int domain, int flags, UniqueFd udp)
    : DrivenSocket(flags), domain_(domain), udp_(std::move(udp)), peers_(kPeers) {
  const Settings& defaults = settings();
  sizes_ = {defaults.send_queue, defaults.receive_queue, defaults.inline_bytes,
            defaults.send_bytes, defaults.receive_bytes, 0};
}

int DatagramSocket::create(int domain, int flags, std::shared_ptr<DatagramSocket>& made) {
  // Our own calls never wait in it; only poll() does.
  UniqueFd udp(system_socket(domain, SOCK_DGRAM | SOCK_NONBLOCK | (flags & SOCK_CLOEXEC), 0));
  if (!udp) return -errno;
  made.reset(
      new DatagramSocket(domain, (flags & SOCK_NONBLOCK) != 0 ? O_NONBLOCK : 0, std::move(udp)));
  return 0;
}

int DatagramSocket::bind(const sockaddr* address, socklen_t length) {
  const Lock lock(mutex_);
  return ::bind(udp_.get(), address, length) != 0 ? -errno : 0;
}

int DatagramSocket::listen(int /*backlog*/) { return -EOPNOTSUPP; }
int DatagramSocket::accept(std::shared_ptr<Socket>& /*accepted*/) { return -EOPNOTSUPP; }
off_t DatagramSocket::map(void* /*buffer*/, std::size_t /*length*/, int /*protection*/,
                          off_t /*offset*/) {
  return -EOPNOTSUPP;
}
int DatagramSocket::unmap(void* /*buffer*/, std::size_t /*length*/) { return -EOPNOTSUPP; }
ssize_t DatagramSocket::write_mapped(std::span<const std::uint8_t> /*bytes*/, off_t /*offset*/,
                                     int /*flags*/) {
  return -EOPNOTSUPP;
}

int DatagramSocket::connect(const sockaddr* address, socklen_t length) {
  const Lock lock(mutex_);
  if (address != nullptr && length >= sizeof(sa_family_t) && address->sa_family == AF_UNSPEC) {
    connected_.reset();
    return ::connect(udp_.get(), address, length) != 0 ? -errno : 0;
  }
  Name name;
  if (const int error = check_destination(address, length, name); error != 0) return error;
  if (::connect(udp_.get(), address, length) != 0) return -errno;
  DatagramEndpoint* endpoint = nullptr;
  if (const int error = endpoint_towards(name, endpoint); error != 0) return error;
  connected_ = name;
  return 0;
}

int DatagramSocket::shutdown(int how) {
  if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR) return -EINVAL;
  const Lock lock(mutex_);
  if (!connected_) return -ENOTCONN;
  if (how != SHUT_WR) may_read_ = false;
  if (how != SHUT_RD) may_write_ = false;
  changed_.notify_all();
  return 0;
}

// What was sent leaves this host; whether it arrives is nobody's business, as with UDP.
void DatagramSocket::close() {
  Lock lock(mutex_);
  finish(lock, Clock::now() + kLongestClose);
}

void DatagramSocket::close_until(Clock::time_point until) {
  Lock lock(mutex_, std::defer_lock);
  if (try_until(lock, until)) finish(lock, std::min(until, Clock::now() + kLongestClose));
}

void DatagramSocket::finish(Lock& lock, Clock::time_point until) {
  may_read_ = may_write_ = false;
  const auto sent = [this] {
    return std::ranges::all_of(endpoints_, [](const auto& endpoint) {
      return endpoint->all_sent() || !endpoint->works();
    });
  };
  while (wait(lock, false, sent, until) == -EINTR) {
  }
  changed_.notify_all();
}

int DatagramSocket::name(sockaddr* address, socklen_t* length) {
  return getsockname(udp_.get(), address, length) != 0 ? -errno : 0;
}

int DatagramSocket::peer_name(sockaddr* address, socklen_t* length) {
  return getpeername(udp_.get(), address, length) != 0 ? -errno : 0;
}

// With a port, which the kernel gives to a socket that has none.
int DatagramSocket::own_name(Name& name) const {
  for (;;) {
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    if (getsockname(udp_.get(), raw(own), &length) != 0) return -errno;
    const std::optional<Name> found = name_of(raw(own), length);
    if (!found) return -EINVAL;
    name = *found;
    if (name.port != 0) return 0;
    own = {};
    own.ss_family = static_cast<sa_family_t>(domain_);
    const socklen_t size = domain_ == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    if (::bind(udp_.get(), raw(own), size) != 0) return -errno;
  }
}

// Which of our names a peer sees: the one that the kernel sends UDP packets from.
int DatagramSocket::name_towards(const Name& peer, Name& name) {
  if (const int error = own_name(name); error != 0) return error;
  if (!is_any(name.address)) return 0;
  const sa_family_t family = is_v4(peer.address) ? AF_INET : AF_INET6;
  sockaddr_storage address{};
  const socklen_t length = write_address(peer, family, address);
  const UniqueFd probe(system_socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!probe || ::connect(probe.get(), raw(address), length) != 0) return -errno;
  socklen_t size = sizeof address;
  if (getsockname(probe.get(), raw(address), &size) != 0) return -errno;
  const std::optional<Name> found = name_of(raw(address), size);
  if (!found) return -EINVAL;
  name.address = found->address;
  name.scope = found->scope;
  return 0;
}

DatagramSizes DatagramSocket::packets() const {
  const auto count = [](std::uint32_t queue, std::uint32_t bytes) {
    const auto fit = static_cast<std::uint32_t>(bytes / kLargestPacket);
    return std::clamp(fit, kSmallestQueue, std::max(queue, kSmallestQueue));
  };
  return {count(sizes_.send_queue, sizes_.send_bytes),
          count(sizes_.receive_queue, sizes_.receive_bytes), sizes_.inline_bytes};
}

// As many as there are local addresses, so a stranger cannot make us open more.
int DatagramSocket::endpoint_towards(const Name& peer, DatagramEndpoint*& found) {
  Name name;
  if (const int error = name_towards(peer, name); error != 0) return error;
  const auto known = std::ranges::find_if(
      endpoints_, [&](const auto& endpoint) { return endpoint->name() == name; });
  if (known != endpoints_.end()) {
    found = known->get();
    return 0;
  }
  if (std::ranges::find(without_device_, name.address) != without_device_.end()) return -ENODEV;
  auto endpoint = std::make_unique<DatagramEndpoint>();
  const int error = endpoint->open(name, packets());
  if (error == ENODEV) without_device_.push_back(name.address);
  if (error != 0) return -error;
  endpoints_.push_back(std::move(endpoint));
  found = endpoints_.back().get();
  return 0;
}

}  // namespace gdr::rsockets
