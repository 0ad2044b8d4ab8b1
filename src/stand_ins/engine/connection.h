// Connection: the packets of one connected queue pair (RC, UC or XRC), without any I/O: time comes
// in as an argument, packets come in and go out as values. Deterministic. One thread at a time.
//
//   engine::Connection connection(settings, owner);     // ready to receive
//   connection.start_sending(send_settings);            // ready to send
//
//   connection.receive(packet, now);                    // inputs
//   connection.posted(now);
//   connection.handle_timeout(now);
//   while (connection.poll_transmit(now, &transmit))    // then outputs: what is to be sent,
//     if (!send(transmit)) connection.payload_unavailable(transmit, now);
//   connection.sent();
//   wake_at(connection.next_timeout());                 // and when to come back
//
// The requester (requester.h) makes requests out of work, the responder (responder.h) answers those
// of the other side, the completer (completer.cc) takes answers. InfiniBand specification volume 1,
// release 1.3: chapter 9; clause numbers stand beside the rules.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/owner.h"
#include "engine/transmit.h"

namespace gdr::engine {

struct ConnectionSettings {
  wire::Transport transport = wire::Transport::kReliableConnection;
  std::uint32_t path_mtu = 1024;  // bytes: 256, 512, 1024, 2048 or 4096
  std::uint32_t destination_qp = 0;
  std::uint32_t receive_psn = 0;           // the first that is expected
  std::uint8_t minimum_rnr_timer = 12;     // as in an RNR NAK
  std::uint32_t responder_resources = 16;  // reads and atomics that it holds for replay
};

struct SendSettings {
  std::uint32_t first_psn = 0;
  Nanoseconds timeout = 0;  // local ACK timeout, 4096 ns << ibv_qp_attr::timeout; 0: for ever
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;               // 7: for ever
  std::uint32_t initiator_depth = 16;       // reads and atomics outstanding
  std::uint32_t most_in_flight = 1u << 20;  // bytes: what the receiver's socket is known to hold
};

class Connection {
 public:
  Connection(const ConnectionSettings& settings, Owner& owner);
  ~Connection();
  void start_sending(const SendSettings& settings);

  // --- Inputs
  // A packet for this queue pair whose ICRC and addresses are right. `congested`: a router marked
  // it (ECN).
  void receive(const wire::Packet& packet, Nanoseconds now, bool congested = false);
  // Work was posted.
  void posted(Nanoseconds now);
  // A receive was posted: a responder may have to say that its credits are back.
  void receive_posted(Nanoseconds now);
  void handle_timeout(Nanoseconds now);
  // What poll_transmit gave has left, or has been copied: works of UC complete. The inputs above
  // say so, too; until one of them comes, next_timeout() is 0.
  void sent();
  // A packet from poll_transmit could not be made: the memory behind it is gone.
  void payload_unavailable(const Transmit& transmit, Nanoseconds now);

  // --- Outputs
  // False: nothing may be sent now. Answers come before requests.
  bool poll_transmit(Nanoseconds now, Transmit* transmit);
  // The same of answers alone.
  bool poll_answer(Transmit* transmit);
  Nanoseconds next_timeout() const;  // kNever: nothing is waited for

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gdr::engine
