// BurstSocket: bursts out of a UDP socket, each by the cheapest system call that does it.
//
//   BurstSocket sender(descriptor);
//   int error = sender.send(to, burst);   // 0, or an errno value
//
// The kernel cuts a burst into packets of one length. A send may name that length in a control
// message, or the socket has it for all sends. Then a burst in one piece of memory needs no message
// header either, which together spares a tenth of a small message's time. So a length that comes
// back again and again, as in a ping-pong whose answers carry acknowledges, becomes the socket's.
//
// Threads: any. A send that leaves the cutting to the socket has the socket for itself meanwhile;
// whoever finds it taken does not wait but names the length.
#pragma once

#include <atomic>
#include <cstdint>

#include "net/port.h"
#include "net/socket_address.h"

namespace gdr::net {

class BurstSocket {
 public:
  explicit BurstSocket(int descriptor) : descriptor_(descriptor) {}

  int send(const SocketAddress& to, const Burst& burst);

 private:
  class Turn;
  bool cuts_rightly(const Burst& burst, std::uint32_t cut);
  bool set_cut(std::uint32_t cut);

  const int descriptor_;
  std::atomic<bool> taken_{false};
  // Under taken_. A length is 0 where nothing is to be cut.
  std::uint32_t cut_ = 0;          // the socket's
  std::uint32_t wanted_ = 0;       // the last one that was another
  std::uint32_t repetitions_ = 0;  // of that one, since the socket's was right last
  bool can_cut_ = true;
};

}  // namespace gdr::net
