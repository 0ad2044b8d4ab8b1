// setsockopt() and getsockopt() of a stream socket.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rsockets/settings.h"
#include "rsockets/stream_socket.h"

namespace gdr::rsockets {
namespace {

constexpr socklen_t kLargestRoute = 4096;

// As far as the program's buffer goes, as getsockopt() does.
template <typename Value>
int give(const Value& answer, void* value, socklen_t* length) {
  const socklen_t size = std::min<socklen_t>(*length, sizeof answer);
  std::memcpy(value, &answer, size);
  *length = size;
  return 0;
}

// Twice what was asked for, as the kernel does: half of it is in use while the other fills.
std::uint32_t buffer_bytes(int asked, std::uint32_t least) {
  const std::uint64_t twice = std::uint64_t{static_cast<std::uint32_t>(asked)} * 2;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(twice, least, kLargestBuffer));
}

}  // namespace

int StreamSocket::set_option(int level, int option, const void* value, socklen_t length) {
  if (value == nullptr) return -EFAULT;
  // A name, which need not have the length of a number: there is one algorithm only.
  if (level == IPPROTO_TCP && option == TCP_CONGESTION) return 0;
  int number = 0;
  if (length < sizeof number) return -EINVAL;
  std::memcpy(&number, value, sizeof number);
  const Lock lock(mutex_);
  if (options_.idle.set(level, option, number) == 0) return 0;
  switch (level) {
    case SOL_SOCKET:
      return set_socket_option(option, number, value, length);
    case IPPROTO_IP:
      if (option != IP_TOS) return -ENOPROTOOPT;
      options_.type_of_service = number;
      return rdma_set_option(id_, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &number, 1) != 0 ? -errno : 0;
    case IPPROTO_IPV6:
      if (option != IPV6_V6ONLY) return -ENOPROTOOPT;
      options_.ipv6_only = number != 0;
      return rdma_set_option(id_, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &number, sizeof number) !=
                     0
                 ? -errno
                 : 0;
    case IPPROTO_TCP:
      if (option == TCP_NODELAY) options_.no_delay = number != 0;
      if (option == TCP_KEEPIDLE && number <= 0) return -EINVAL;
      if (option == TCP_KEEPIDLE) options_.keep_idle = number;
      return option == TCP_NODELAY || option == TCP_KEEPIDLE || option == TCP_MAXSEG ? 0
                                                                                     : -ENOPROTOOPT;
    case SOL_RDMA:
      return set_rdma_option(option, static_cast<std::uint32_t>(number), value, length);
    default:
      return -ENOPROTOOPT;
  }
}

int StreamSocket::set_socket_option(int option, int value, const void* raw, socklen_t length) {
  switch (option) {
    case SO_REUSEADDR:
      options_.reuse_address = value != 0;
      // Only before it is bound; later it makes no difference.
      if (state_ == State::kIdle) {
        rdma_set_option(id_, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &value, sizeof value);
      }
      return 0;
    case SO_RCVBUF:
      if (!endpoint_) options_.sizes.receive_bytes = buffer_bytes(value, 2);
      return 0;
    case SO_SNDBUF:
      if (!endpoint_) {
        options_.sizes.send_bytes = buffer_bytes(value, 2 * kSmallestSendBytes);
      }
      return 0;
    case SO_LINGER: {
      linger asked{};
      if (length < sizeof asked) return -EINVAL;
      std::memcpy(&asked, raw, sizeof asked);
      options_.linger_seconds.reset();
      if (asked.l_onoff != 0) options_.linger_seconds = std::clamp(asked.l_linger, 0, 3600);
      return 0;
    }
    case SO_KEEPALIVE:
      options_.keep_alive = value != 0;
      return 0;
    case SO_OOBINLINE:
      options_.inline_urgent = value != 0;
      return 0;
    default:
      return set_timeout(option, raw, length);
  }
}

int StreamSocket::set_rdma_option(int option, std::uint32_t value, const void* raw,
                                  socklen_t length) {
  if (endpoint_ || opening()) return -EINVAL;
  switch (option) {
    case RDMA_SQSIZE:
      options_.sizes.send_queue = std::clamp(value, kSmallestQueue, kLargestQueue);
      return 0;
    case RDMA_RQSIZE:
      options_.sizes.receive_queue = std::clamp(value, kSmallestQueue, kLargestQueue);
      return 0;
    case RDMA_INLINE:
      options_.sizes.inline_bytes = std::min(value, 0xFFFFU);
      return 0;
    case RDMA_IOMAPSIZE:
      // What the protocol can say to the peer.
      options_.sizes.mappings = mappings_from_byte(mappings_to_byte(value));
      return 0;
    case RDMA_ROUTE: {
      if (length > kLargestRoute) return -EINVAL;
      const auto* bytes = static_cast<const std::uint8_t*>(raw);
      options_.route.assign(bytes, bytes + length);
      return 0;
    }
    default:
      return -ENOPROTOOPT;
  }
}

int StreamSocket::option(int level, int option, void* value, socklen_t* length) {
  if (value == nullptr || length == nullptr) return -EFAULT;
  const Lock lock(mutex_);
  if (const auto idle = options_.idle.get(level, option)) return give(*idle, value, length);
  switch (level) {
    case SOL_SOCKET:
      return socket_option(option, value, length);
    case IPPROTO_TCP:
      return tcp_option(option, value, length);
    case IPPROTO_IP:
      return option == IP_TOS ? give(options_.type_of_service, value, length) : -ENOPROTOOPT;
    case IPPROTO_IPV6:
      return option == IPV6_V6ONLY ? give(int{options_.ipv6_only}, value, length) : -ENOPROTOOPT;
    case SOL_RDMA:
      return rdma_option(option, value, length);
    default:
      return -ENOPROTOOPT;
  }
}

int StreamSocket::socket_option(int option, void* value, socklen_t* length) {
  const auto number = [&](auto answer) { return give(static_cast<int>(answer), value, length); };
  switch (option) {
    case SO_TYPE:
      return number(SOCK_STREAM);
    case SO_PROTOCOL:
      return number(IPPROTO_TCP);
    case SO_DOMAIN:
      return number(domain_);
    case SO_ACCEPTCONN:
      return number(state_ == State::kListening);
    case SO_REUSEADDR:
      return number(options_.reuse_address);
    case SO_KEEPALIVE:
      return number(options_.keep_alive);
    case SO_OOBINLINE:
      return number(options_.inline_urgent);
    case SO_RCVBUF:
      return number(options_.sizes.receive_bytes);
    case SO_SNDBUF:
      return number(options_.sizes.send_bytes);
    case SO_LINGER:
      return give(linger{options_.linger_seconds ? 1 : 0, options_.linger_seconds.value_or(0)},
                  value, length);
    case SO_ERROR:
      if (opening()) look();
      return number(take_error());
    default:
      return timeout(option, value, length);
  }
}

int StreamSocket::tcp_option(int option, void* value, socklen_t* length) {
  const auto number = [&](auto answer) { return give(static_cast<int>(answer), value, length); };
  switch (option) {
    case TCP_NODELAY:
      return number(options_.no_delay);
    case TCP_KEEPIDLE:
      return number(options_.keep_idle);
    case TCP_MAXSEG:
      return number(id_->route.num_paths > 0 && id_->route.path_rec != nullptr
                        ? 1 << (7 + (id_->route.path_rec->mtu & 7))
                        : 2048);
    case TCP_INFO: {
      tcp_info info{};
      info.tcpi_state = connected() ? TCP_ESTABLISHED : TCP_CLOSE;
      info.tcpi_snd_cwnd = options_.sizes.send_queue;
      return give(info, value, length);
    }
    default:  // among them TCP_CONGESTION, which would be a name
      return -ENOPROTOOPT;
  }
}

int StreamSocket::rdma_option(int option, void* value, socklen_t* length) {
  const auto number = [&](auto answer) { return give(static_cast<int>(answer), value, length); };
  const EndpointSizes& sizes = options_.sizes;
  switch (option) {
    case RDMA_SQSIZE:
      return number(sizes.send_queue);
    case RDMA_RQSIZE:
      return number(sizes.receive_queue);
    case RDMA_INLINE:
      return number(endpoint_ ? endpoint_->inline_bytes() : sizes.inline_bytes);
    case RDMA_IOMAPSIZE:
      return number(sizes.mappings);
    case RDMA_ROUTE: {
      if (*length < options_.route.size()) return -EINVAL;
      std::ranges::copy(options_.route, static_cast<std::uint8_t*>(value));
      *length = static_cast<socklen_t>(options_.route.size());
      return 0;
    }
    default:
      return -ENOPROTOOPT;
  }
}

}  // namespace gdr::rsockets
