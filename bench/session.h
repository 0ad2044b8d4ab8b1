// Session: the initiator's side of a measurement: its endpoint, the target process, and the bare
// system calls against the same pages.
//
//   Session session;                             // starts the target, connects
//   session.endpoint().write(kOneMiB, 1 << 20);  // through the software NIC
//   session.bare_write(kOneMiB, 1 << 20);        // process_vm_writev, same bytes, same places
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>

#include "endpoint.h"
#include "messages.h"
#include "other_process.h"

namespace gdr::bench {

constexpr std::uint32_t kPingPongBytes = 64;
constexpr const char* kTargetRole = "target";

class Session {
 public:
  Session();

  Endpoint& endpoint() { return *endpoint_; }

  // Hot.
  void bare_write(BufferId id, std::size_t length);
  void bare_read(BufferId id, std::size_t length);
  // By one call, as Endpoint::run_list; places that touch in the target are one piece of it.
  void bare_list(BufferId id, bool writes, std::size_t length, int count, std::size_t stride);
  void bare_ping(int count) { bare_events_.ping(count); }  // after Order::kBarePingPong

  // Has the target do it and waits for its answer.
  Message order(Order order, BufferId buffer, std::uint64_t count);

  // Ends the program if what `move` moves does not arrive, byte by byte, in the other's buffer
  // (inbound: in this one's).
  template <typename Move>
  void check(BufferId id, std::size_t length, Move&& move);
  template <typename Move>
  void check_inbound(BufferId id, std::size_t length, Move&& move);

  // Both twins lie in huge pages.
  bool is_huge(BufferId id) const;

 private:
  void compare(std::uint64_t found, std::uint64_t expected, std::size_t length) const;

  const BareEvents bare_events_;  // before the target, which inherits them
  OtherProcess target_{SOCK_SEQPACKET, kTargetRole};
  mutable std::optional<Endpoint> endpoint_;
  Introduction own_, other_;
};

template <typename Move>
void Session::check(BufferId id, std::size_t length, Move&& move) {
  order(Order::kClear, id, 0);
  endpoint().buffer(id).fill(length);
  move();
  compare(order(Order::kHash, id, length).value, endpoint().buffer(id).hash(length), length);
}

template <typename Move>
void Session::check_inbound(BufferId id, std::size_t length, Move&& move) {
  endpoint().buffer(id).fill(length + 1);
  bare_write(id, length);
  const std::uint64_t expected = endpoint().buffer(id).hash(length);
  endpoint().buffer(id).clear();
  move();
  compare(endpoint().buffer(id).hash(length), expected, length);
}

}  // namespace gdr::bench
