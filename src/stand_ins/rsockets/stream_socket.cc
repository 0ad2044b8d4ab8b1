#include "rsockets/stream_socket.h"

#include <fcntl.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rsockets/settings.h"

namespace gdr::rsockets {
namespace {

int negated_error(int fallback) { return errno != 0 ? -errno : -fallback; }

int copy_name(const sockaddr& name, sockaddr* address, socklen_t* length) {
  // rdma-core's librspreload.so asks for the length alone.
  if (length == nullptr || (address == nullptr && *length != 0)) return -EFAULT;
  const socklen_t size = name.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (address != nullptr) std::memcpy(address, &name, std::min(*length, size));
  *length = size;
  return 0;
}

}  // namespace

int StreamSocket::create(int domain, int flags, std::shared_ptr<StreamSocket>& made) {
  std::shared_ptr<StreamSocket> socket(
      new StreamSocket(domain, (flags & SOCK_NONBLOCK) != 0 ? O_NONBLOCK : 0));
  const Settings& defaults = settings();
  socket->options_.sizes = {defaults.send_queue, defaults.receive_queue, defaults.inline_bytes,
                            defaults.send_bytes, defaults.receive_bytes, defaults.mappings};
  errno = 0;
  socket->channel_ = rdma_create_event_channel();
  if (socket->channel_ == nullptr) return negated_error(ENODEV);
  const int fd = socket->channel_->fd;
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) return negated_error(EINVAL);
  if (rdma_create_id(socket->channel_, &socket->id_, nullptr, RDMA_PS_TCP) != 0) {
    socket->id_ = nullptr;
    return negated_error(ENODEV);
  }
  made = std::move(socket);
  return 0;
}

StreamSocket::~StreamSocket() {
  accepted_.clear();
  if (connected()) disconnect();
  // The queue pair belongs to the connection's id, and what it writes to must outlive it.
  endpoint_.reset();
  if (id_ != nullptr) rdma_destroy_id(id_);
  if (channel_ != nullptr) rdma_destroy_event_channel(channel_);
}

bool StreamSocket::opening() const {
  return state_ == State::kResolvingAddress || state_ == State::kResolvingRoute ||
         state_ == State::kConnecting || state_ == State::kAccepting;
}

void StreamSocket::fail(int error) {
  state_ = State::kFailed;
  error_ = error;
  may_read_ = may_write_ = false;
  count_edge();
}

// Once: the connection manager tells the other side, or answers it.
void StreamSocket::disconnect() {
  if (disconnected_id_ || id_ == nullptr) return;
  disconnected_id_ = true;
  rdma_disconnect(id_);
}

int StreamSocket::bind(const sockaddr* address, socklen_t length) {
  if (address == nullptr) return -EFAULT;
  const Lock lock(mutex_);
  if (state_ != State::kIdle) return -EINVAL;
  sockaddr_storage copy{};
  const std::size_t least = domain_ == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (length < least || length > sizeof copy) return -EINVAL;
  std::memcpy(&copy, address, length);
  if (copy.ss_family != domain_) return -EAFNOSUPPORT;
  errno = 0;
  if (rdma_bind_addr(id_, reinterpret_cast<sockaddr*>(&copy)) != 0)
    return negated_error(EADDRINUSE);
  state_ = State::kBound;
  return 0;
}

int StreamSocket::listen(int backlog) {
  const Lock lock(mutex_);
  if (state_ == State::kListening) return 0;
  if (state_ == State::kIdle) {
    sockaddr_storage any{};
    any.ss_family = static_cast<sa_family_t>(domain_);
    errno = 0;
    if (rdma_bind_addr(id_, reinterpret_cast<sockaddr*>(&any)) != 0)
      return negated_error(EADDRINUSE);
    state_ = State::kBound;
  }
  if (state_ != State::kBound) return -EINVAL;
  backlog_ = std::clamp(backlog, 1, SOMAXCONN);
  errno = 0;
  if (rdma_listen(id_, backlog_) != 0) return negated_error(EADDRINUSE);
  state_ = State::kListening;
  return 0;
}

int StreamSocket::peer_name(sockaddr* address, socklen_t* length) {
  const Lock lock(mutex_);
  if (state_ != State::kConnected && state_ != State::kAccepting &&
      state_ != State::kDisconnected) {
    return -ENOTCONN;
  }
  return copy_name(*rdma_get_peer_addr(id_), address, length);
}

int StreamSocket::name(sockaddr* address, socklen_t* length) {
  const Lock lock(mutex_);
  sockaddr_storage unbound{};
  unbound.ss_family = static_cast<sa_family_t>(domain_);
  const sockaddr* local = rdma_get_local_addr(id_);
  if (local->sa_family != AF_INET && local->sa_family != AF_INET6) {
    local = reinterpret_cast<const sockaddr*>(&unbound);
  }
  return copy_name(*local, address, length);
}

}  // namespace gdr::rsockets
