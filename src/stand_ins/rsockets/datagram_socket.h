// DatagramSocket: a SOCK_DGRAM rsocket. It is an ordinary UDP socket, by which both sides tell each
// other their queue pairs, and one queue pair for each local address that it sends from. A datagram
// goes by UDP until its receiver has answered, then from queue pair to queue pair.
//
//   std::shared_ptr<DatagramSocket> socket;
//   if (int error = DatagramSocket::create(AF_INET, SOCK_NONBLOCK, socket)) return error;
//
// It is one class in several files: datagram_socket.cc (its life and its name),
// datagram_options.cc, datagram_send.cc, datagram_receive.cc (both ways in) and
// datagram_progress.cc (waiting). driven_socket.h says who drives it.
//
// Like UDP it loses, doubles and reorders, and tells nobody. A datagram has to fit into one packet
// of the port's path MTU (EMSGSIZE).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/unique_fd.h"
#include "rsockets/datagram_endpoint.h"
#include "rsockets/datagram_peers.h"
#include "rsockets/driven_socket.h"
#include "rsockets/endpoint.h"
#include "rsockets/name.h"

namespace gdr::rsockets {

class DatagramSocket final : public DrivenSocket {
 public:
  // `flags`: SOCK_NONBLOCK, SOCK_CLOEXEC.
  static int create(int domain, int flags, std::shared_ptr<DatagramSocket>& made);

  int descriptor() const override { return udp_.get(); }
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
  // A datagram that the program has not read: in a slot of an endpoint, or, if it came by UDP, in
  // memory of its own.
  struct Arrival {
    Name from;
    std::span<const std::uint8_t> data;
    DatagramEndpoint* endpoint = nullptr;
    std::uint32_t slot = 0;
    std::vector<std::uint8_t> own;
  };

  DatagramSocket(int domain, int flags, UniqueFd udp);

  int take_error() { return std::exchange(error_, 0); }

  // datagram_socket.cc
  int own_name(Name& name) const;
  int name_towards(const Name& peer, Name& name);
  int endpoint_towards(const Name& peer, DatagramEndpoint*& found);
  DatagramSizes packets() const;
  void finish(Lock& lock, Clock::time_point until);

  // datagram_send.cc
  int check_destination(const sockaddr* to, socklen_t length, Name& name) const;
  bool by_udp(DatagramPeer& peer);
  ssize_t send_by_udp(DatagramPeer& peer, std::span<const iovec> pieces, bool carries_data);
  ssize_t send_once(const Name& to, std::span<const iovec> pieces, std::size_t length);
  bool can_send() const;

  // datagram_receive.cc
  void take_messages();
  void take(DatagramEndpoint& endpoint, const DatagramEndpoint::Message& message);
  bool is_from(const Name& sender, const Address& source);
  void take_packets();
  bool take_packet();
  void handle_packet(const Name& from, std::span<const std::uint8_t> packet);
  void let_go(const Arrival& arrival);

  // datagram_progress.cc
  void progress() override;
  void look() override;
  int sleep(Lock& lock, std::optional<Clock::time_point> until) override;
  void add_descriptors(std::vector<pollfd>& sleep_on) const;
  bool arm();
  void take_events();
  short ready_now(short events) const;

  const int domain_;
  const UniqueFd udp_;
  EndpointSizes sizes_;
  std::vector<std::unique_ptr<DatagramEndpoint>> endpoints_;
  std::vector<Address> without_device_;  // local addresses that no NIC has
  DatagramPeers peers_;
  std::deque<Arrival> arrivals_;
  std::size_t by_udp_ = 0;  // of them
  std::optional<Name> connected_;
  int error_ = 0;  // an errno value that the program has not seen
  bool may_read_ = true, may_write_ = true;
  bool is_blocked_ = false;  // a send found no room
};

}  // namespace gdr::rsockets
