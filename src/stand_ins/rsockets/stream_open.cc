// How a stream socket's connection comes about: what the connection manager reports, and what
// follows from it. The channel never blocks; whoever waits polls its descriptor.
#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "rsockets/stream_socket.h"

namespace gdr::rsockets {
namespace {

constexpr int kRetries = 6;  // each waits twice as long as the one before

int last_error(int fallback) { return errno != 0 ? errno : fallback; }

std::span<const std::uint8_t> private_data_of(const rdma_conn_param& param) {
  if (param.private_data == nullptr) return {};
  return {static_cast<const std::uint8_t*>(param.private_data), param.private_data_len};
}

// An event's status is a negated errno value or, of a rejection, a reason of the protocol.
int error_of(int status, int fallback) { return status < 0 && status > -4096 ? -status : fallback; }

}  // namespace

int StreamSocket::connect(const sockaddr* address, socklen_t length) {
  if (address == nullptr) return -EFAULT;
  Lock lock(mutex_);
  if (opening()) look();
  if (opening() && nonblocking(0)) return -EALREADY;
  if (opening()) return finish_connecting(lock);
  if (connected()) return -EISCONN;
  if (state_ == State::kFailed && error_ != 0) return -take_error();
  if (state_ != State::kIdle && state_ != State::kBound) {
    return state_ == State::kListening ? -EOPNOTSUPP : -EISCONN;
  }
  if (length < sizeof(sockaddr_in) || length > sizeof destination_) return -EINVAL;
  if (address->sa_family != domain_) return -EAFNOSUPPORT;
  std::memcpy(&destination_, address, length);
  retries_ = 0;
  if (const int error = resolve_address(); error != 0) {
    state_ = State::kIdle;
    return -error;
  }
  return nonblocking(0) ? -EINPROGRESS : finish_connecting(lock);
}

// SO_SNDTIMEO ends the wait, not the attempt.
int StreamSocket::finish_connecting(Lock& lock) {
  const int error = finish_opening(lock, false, send_until());
  return error == -EAGAIN ? -EINPROGRESS : error;
}

// 0: connected. -EAGAIN: not yet, and may not wait.
int StreamSocket::finish_opening(Lock& lock, bool nonblocking,
                                 std::optional<Clock::time_point> until) {
  const auto done = [this] { return !opening(); };
  if (const int error = wait(lock, nonblocking, done, until); error != 0) return error;
  if (state_ == State::kFailed && error_ != 0) return -take_error();
  return state_ == State::kFailed ? -ENOTCONN : 0;
}

int StreamSocket::resolve_address() {
  errno = 0;
  const int timeout_ms = 1000 << retries_++;
  state_ = State::kResolvingAddress;
  auto* to = reinterpret_cast<sockaddr*>(&destination_);
  return rdma_resolve_addr(id_, nullptr, to, timeout_ms) != 0 ? last_error(ENETUNREACH) : 0;
}

int StreamSocket::resolve_route() {
  errno = 0;
  state_ = State::kResolvingRoute;
  if (!options_.route.empty()) {
    if (rdma_set_option(id_, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, options_.route.data(),
                        options_.route.size()) != 0) {
      return last_error(EINVAL);
    }
    options_.route.clear();
    return 0;  // the event follows as after a resolution
  }
  const int timeout_ms = 1000 << retries_++;
  return rdma_resolve_route(id_, timeout_ms) != 0 ? last_error(EHOSTUNREACH) : 0;
}

int StreamSocket::open_endpoint() {
  endpoint_ = std::make_unique<Endpoint>();
  errno = 0;
  if (const int error = endpoint_->open(id_, options_.sizes); error != 0) return error;
  const EndpointSizes& sizes = options_.sizes;
  send_slots_ = sizes.send_queue - ControlSlots::kSlots;
  send_ring_ = SendRing(sizes.send_bytes);
  receive_ring_.emplace(endpoint_->receive_memory().bytes(), sizes.receive_queue);
  receive_credits_ = ReceiveCredits(static_cast<std::uint16_t>(sizes.receive_queue));
  targets_ = TargetList(endpoint_->target_memory().bytes());
  return 0;
}

std::array<std::uint8_t, kConnectionDataBytes> StreamSocket::connection_data() {
  ConnectionData data;
  data.big_endian = std::endian::native == std::endian::big;
  data.takes_mappings = true;
  data.credits = static_cast<std::uint16_t>(options_.sizes.receive_queue);
  data.mappings = options_.sizes.mappings;
  const RegisteredBytes& lists = endpoint_->target_memory();
  data.targets = {lists.address(), lists.rkey(), kTargetEntries};
  const RegisteredBytes& buffer = endpoint_->receive_memory();
  data.first_buffer = {buffer.address(), buffer.rkey(), receive_ring_->half()};
  return encode(data);
}

int StreamSocket::begin_connection(std::span<const std::uint8_t> private_data) {
  const std::optional<ConnectionData> peer = decode_connection_data(private_data);
  if (!peer) return EPROTONOSUPPORT;
  peer_ = *peer;
  next_target_ = 1 % peer_.targets.length;
  targets_.begin(peer_.first_buffer);
  send_credits_ = SendCredits(peer_.credits);
  mappings_.begin(peer_.mappings);
  return 0;
}

int StreamSocket::send_request() {
  if (const int error = open_endpoint(); error != 0) return error;
  const auto data = connection_data();
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = data.size();
  param.flow_control = 1;
  param.retry_count = 7;
  param.rnr_retry_count = 7;
  state_ = State::kConnecting;
  errno = 0;
  return rdma_connect(id_, &param) != 0 ? last_error(ECONNREFUSED) : 0;
}

void StreamSocket::handle_events() {
  if (id_ == nullptr) return;
  pollfd waiting{channel_->fd, POLLIN, 0};
  while (poll(&waiting, 1, 0) == 1) {
    // Connections that nobody has accepted stay with the connection manager, which bounds them.
    if (state_ == State::kListening && accepted_.size() >= static_cast<std::size_t>(backlog_)) {
      return;
    }
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(channel_, &event) != 0) return;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      // Its id moves to a channel of its own, which waits until this event is acknowledged.
      const rdma_conn_param param = event->param.conn;
      const auto seen = private_data_of(param);
      const std::vector<std::uint8_t> data(seen.begin(), seen.end());
      rdma_cm_id* id = event->id;
      rdma_ack_cm_event(event);
      take_request(id, param, data);
      continue;
    }
    handle(*event);
    rdma_ack_cm_event(event);
  }
}

bool StreamSocket::try_again(int status) { return status == -ETIMEDOUT && retries_ < kRetries; }

void StreamSocket::handle(const rdma_cm_event& event) {
  int error = 0;
  switch (event.event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      retries_ = 0;
      if (state_ == State::kResolvingAddress) error = resolve_route();
      break;
    case RDMA_CM_EVENT_ADDR_ERROR:
      error = try_again(event.status) ? resolve_address() : error_of(event.status, EHOSTUNREACH);
      break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      if (state_ == State::kResolvingRoute) error = send_request();
      break;
    case RDMA_CM_EVENT_ROUTE_ERROR:
      error = try_again(event.status) ? resolve_route() : error_of(event.status, EHOSTUNREACH);
      break;
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
      error = error_of(event.status, ETIMEDOUT);
      break;
    case RDMA_CM_EVENT_REJECTED:
      error = ECONNREFUSED;
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      handle_established(private_data_of(event.param.conn));
      break;
    case RDMA_CM_EVENT_DISCONNECTED:
      handle_disconnected();
      break;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      error = ENODEV;
      break;
    default:
      break;
  }
  if (error != 0 && (opening() || connected())) fail(error);
}

void StreamSocket::handle_established(std::span<const std::uint8_t> private_data) {
  if (state_ == State::kConnecting) {
    if (const int error = begin_connection(private_data); error != 0) {
      fail(error);
      disconnect();
      return;
    }
  } else if (state_ != State::kAccepting) {
    return;
  }
  state_ = State::kConnected;
  may_read_ = may_write_ = true;
  count_edge();
  progress();
}

// The other side has gone. If it did so in good order, its last message is here already.
void StreamSocket::handle_disconnected() {
  if (opening()) {
    fail(ECONNRESET);
  } else if (connected()) {
    progress();
    if (connected()) {
      const bool lost_data = !all_delivered();
      fail(lost_data ? ECONNRESET : 0);
      if (!lost_data) state_ = State::kDisconnected;  // fail() has counted the edge
    }
  }
  disconnect();
}

void StreamSocket::take_request(rdma_cm_id* id, const rdma_conn_param& param,
                                std::span<const std::uint8_t> private_data) {
  // Without O_NONBLOCK, whatever the listener has (accept(2)).
  std::shared_ptr<StreamSocket> socket(new StreamSocket(domain_, 0));
  socket->options_ = options_;
  const int error = socket->answer(id, param, private_data);
  if (error == 0) {
    accepted_.push_back(std::move(socket));
    count_edge();
    return;
  }
  rdma_reject(id, nullptr, 0);
  // Destroys the id, too, if the socket has taken it.
  if (socket->id_ == nullptr) rdma_destroy_id(id);
}

int StreamSocket::answer(rdma_cm_id* id, const rdma_conn_param& asked,
                         std::span<const std::uint8_t> private_data) {
  if (!decode_connection_data(private_data)) return EPROTONOSUPPORT;
  errno = 0;
  channel_ = rdma_create_event_channel();
  if (channel_ == nullptr) return last_error(ENOMEM);
  if (fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) != 0) {
    return last_error(EINVAL);
  }
  if (rdma_migrate_id(id, channel_) != 0) return last_error(EINVAL);
  id_ = id;
  if (const int error = open_endpoint(); error != 0) return error;
  if (const int error = begin_connection(private_data); error != 0) return error;
  const auto data = connection_data();
  rdma_conn_param param = asked;
  param.private_data = data.data();
  param.private_data_len = data.size();
  state_ = State::kAccepting;
  return rdma_accept(id_, &param) != 0 ? last_error(ECONNABORTED) : 0;
}

int StreamSocket::accept(std::shared_ptr<Socket>& accepted) {
  Lock lock(mutex_);
  if (state_ != State::kListening) return -EINVAL;
  const auto done = [this] { return !accepted_.empty() || state_ != State::kListening; };
  if (const int error = wait(lock, nonblocking(0), done, receive_until()); error != 0) return error;
  if (accepted_.empty()) return -EINVAL;
  UniqueFd number(fcntl(accepted_.front()->channel_->fd, F_DUPFD_CLOEXEC, 0));
  if (!number) return -errno;
  accepted_.front()->number_ = std::move(number);
  accepted = std::move(accepted_.front());
  accepted_.pop_front();
  return 0;
}

}  // namespace gdr::rsockets
