// BarePair: two processes that a bare UDP benchmark runs between: what the client asked for, told
// over TCP, and a UDP socket each, set as the software NIC sets its own.
//
//   Result<BarePair> pair = BarePair::meet(options);
//   if (!pair) return pair.error();
//   pair->send(message);             // a datagram, or a burst of them, to the other one
//
// The UDP sockets are never connected and never fragment: a RoCEv2 packet's ICRC covers what the
// kernel puts into the IP header, which is known only so (src/stand_ins/net/udp_port.h). What a
// connected socket would save is thus no part of what is measured.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::bench {

struct BareOptions {
  bool latency = false;  // else a stream
  std::uint64_t size = 65536;
  std::uint64_t packet = 4096;
  std::uint64_t window = 1 << 20;
  std::uint64_t count = 0;  // 0: some seconds of them
  bool segmentation = true;
  bool even = true;  // packets of one length, not those of a write
  std::uint16_t port = 0;
  std::string bind;  // the address of the UDP socket
  std::string host;  // empty: this is the server
};

class BarePair {
 public:
  // The server waits for its client, and takes size, packet and count from it.
  static Result<BarePair> meet(const BareOptions& options);

  const BareOptions& options() const { return options_; }
  int socket() const { return socket_.get(); }
  // One sendmsg; waits for room. `segment`: bytes of each datagram, 0 for only one.
  bool send(const iovec* pieces, std::size_t count, std::uint16_t segment) const;
  // What arrived, spinning until something does; `segment`: bytes of each datagram but the last.
  // -1: nothing for seconds.
  ssize_t receive(void* bytes, std::size_t room, std::uint32_t* segment) const;
  // The same, at once. -1: nothing is there.
  ssize_t receive_now(void* bytes, std::size_t room, std::uint32_t* segment) const;

 private:
  Result<void> meet_over_tcp();
  Result<void> open_udp();
  Result<void> exchange();

  BareOptions options_;
  UniqueFd control_;  // TCP
  UniqueFd socket_;
  sockaddr_in other_{};  // UDP
};

}  // namespace gdr::bench
