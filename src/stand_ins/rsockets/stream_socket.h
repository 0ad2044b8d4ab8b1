// StreamSocket: a SOCK_STREAM rsocket. Two reliable queue pairs carry the bytes: each side writes
// into a buffer of the other by RDMA, where the other said that there is room.
//
//   std::shared_ptr<StreamSocket> socket;
//   if (int error = StreamSocket::create(AF_INET, SOCK_NONBLOCK, socket)) return error;
//
// It is one class in several files: stream_socket.cc (its life), stream_open.cc (connection
// manager: connect and accept), stream_progress.cc (completions and waiting), stream_receive.cc and
// stream_send.cc (bytes), stream_close.cc, stream_mappings.cc and stream_options.cc.
//
// driven_socket.h says who drives it.
#pragma once

#include <rdma/rdma_cma.h>

#include <deque>
#include <memory>
#include <optional>

#include "base/unique_fd.h"
#include "rsockets/credits.h"
#include "rsockets/driven_socket.h"
#include "rsockets/endpoint.h"
#include "rsockets/idle_options.h"
#include "rsockets/mappings.h"
#include "rsockets/receive_ring.h"
#include "rsockets/send_ring.h"
#include "rsockets/target_list.h"

namespace gdr::rsockets {

// What setsockopt() may change.
struct StreamOptions {
  EndpointSizes sizes;
  bool reuse_address = false, keep_alive = false, inline_urgent = false, no_delay = false;
  bool ipv6_only = false;
  int keep_idle = 7200;
  int type_of_service = 0;
  std::optional<int> linger_seconds;
  std::vector<std::uint8_t> route;
  IdleOptions idle;
};

class StreamSocket final : public DrivenSocket {
 public:
  // `flags`: SOCK_NONBLOCK.
  static int create(int domain, int flags, std::shared_ptr<StreamSocket>& made);
  ~StreamSocket() override;

  int descriptor() const override { return number_ ? number_.get() : channel_->fd; }
  int bind(const sockaddr* address, socklen_t length) override;
  int listen(int backlog) override;
  int accept(std::shared_ptr<Socket>& accepted) override;
  int connect(const sockaddr* address, socklen_t length) override;
  int shutdown(int how) override;
  void close() override;
  void close_until(std::chrono::steady_clock::time_point until) override;
  ssize_t receive(std::span<const iovec> into, int flags, sockaddr* from, socklen_t* length,
                  int* told) override;
  ssize_t send(std::span<const iovec> bytes, int flags, const sockaddr* to,
               socklen_t length) override;
  int peer_name(sockaddr* address, socklen_t* length) override;
  int name(sockaddr* address, socklen_t* length) override;
  int set_option(int level, int option, const void* value, socklen_t length) override;
  int option(int level, int option, void* value, socklen_t* length) override;
  off_t map(void* buffer, std::size_t length, int protection, off_t offset) override;
  int unmap(void* buffer, std::size_t length) override;
  ssize_t write_mapped(std::span<const std::uint8_t> bytes, off_t offset, int flags) override;
  Readiness ready(short events) override;
  short prepare_sleep(short events, std::vector<pollfd>& sleep_on) override;
  void woken() override;

 private:
  enum class State {
    kIdle,
    kBound,
    kListening,
    kResolvingAddress,
    kResolvingRoute,
    kConnecting,
    kAccepting,
    kConnected,
    kDisconnected,  // in good order
    kFailed,        // connecting failed or the connection was lost; error_ says why
  };

  StreamSocket(int domain, int flags) : DrivenSocket(flags), domain_(domain) {}

  bool opening() const;
  bool connected() const { return state_ == State::kConnected; }
  int take_error() { return std::exchange(error_, 0); }
  void fail(int error);
  void disconnect();

  // stream_open.cc
  int finish_opening(Lock& lock, bool nonblocking,
                     std::optional<Clock::time_point> until = std::nullopt);
  int finish_connecting(Lock& lock);
  int resolve_address();
  int resolve_route();
  int open_endpoint();
  int begin_connection(std::span<const std::uint8_t> private_data);
  std::array<std::uint8_t, kConnectionDataBytes> connection_data();
  int send_request();
  bool try_again(int status);
  void handle_events();
  void handle(const rdma_cm_event& event);
  void handle_established(std::span<const std::uint8_t> private_data);
  void handle_disconnected();
  void take_request(rdma_cm_id* id, const rdma_conn_param& param,
                    std::span<const std::uint8_t> private_data);
  int answer(rdma_cm_id* id, const rdma_conn_param& param,
             std::span<const std::uint8_t> private_data);

  // stream_progress.cc
  void progress() override;
  void look() override;
  int sleep(Lock& lock, std::optional<Clock::time_point> until) override;
  void handle(const Completion& done);
  void handle_message(Immediate message);
  void give_credits();
  short ready_now(short events);

  // stream_receive.cc, stream_send.cc
  std::size_t take_bytes(std::span<const iovec> into, std::size_t skip, bool peek);
  std::size_t drop_bytes(std::size_t most);
  void grant_what_was_read();
  bool can_send();
  int wait_to_send(Lock& lock, bool nonblocking);
  int tell_mappings(Lock& lock, bool nonblocking);
  int post_bytes(std::span<const iovec> bytes, std::size_t skip, std::uint32_t length,
                 const RemoteRange& to, const Immediate* message);

  // stream_close.cc
  bool all_delivered() const;
  void finish(Lock& lock, Clock::time_point until);
  int say_goodbye(Lock& lock, Control what, Clock::time_point until);

  // stream_options.cc
  int set_socket_option(int option, int value, const void* raw, socklen_t length);
  int set_rdma_option(int option, std::uint32_t value, const void* raw, socklen_t length);
  int socket_option(int option, void* value, socklen_t* length);
  int tcp_option(int option, void* value, socklen_t* length);
  int rdma_option(int option, void* value, socklen_t* length);

  const int domain_;
  State state_ = State::kIdle;
  int error_ = 0;  // an errno value that the program has not seen
  bool may_read_ = false, may_write_ = false;
  bool wrote_last_ = false;  // shutdown(SHUT_WR)
  bool is_blocked_ = false;  // a send found no room
  bool disconnected_id_ = false;
  int retries_ = 0;
  StreamOptions options_;

  rdma_event_channel* channel_ = nullptr;
  // Once accepted: a duplicate of the channel's, made by then. Descriptors grow in the order of the
  // program's calls, and the librspreload.so of rdma-core before 63 mixes up in select() those that
  // do not.
  UniqueFd number_;
  rdma_cm_id* id_ = nullptr;
  sockaddr_storage destination_{};
  int backlog_ = 0;
  std::deque<std::shared_ptr<StreamSocket>> accepted_;

  std::unique_ptr<Endpoint> endpoint_;
  Mappings mappings_;
  std::uint32_t send_slots_ = 0;  // of the send queue, for data
  SendRing send_ring_;
  SendCredits send_credits_;
  ControlSlots control_slots_;
  TargetList targets_;
  std::optional<ReceiveRing> receive_ring_;
  ReceiveCredits receive_credits_;
  ConnectionData peer_;
  std::uint32_t next_target_ = 1;  // entry of the peer's list that we write next
};

}  // namespace gdr::rsockets
