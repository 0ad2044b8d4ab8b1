// Datagram: the packets of a UD queue pair: one packet a message, nobody answers (9.8.3).
#pragma once

#include "engine/owner.h"
#include "engine/transmit.h"

namespace gdr::engine {

class Datagram {
 public:
  explicit Datagram(std::uint32_t source_qp) : source_qp_(source_qp) {}
  // ibv_qp_attr::sq_psn.
  void start_sending(std::uint32_t first_psn) { psn_ = first_psn; }
  // The packet of this work (kSend, kSendImmediate), which is the owner's oldest.
  void build(const Work& work, Transmit* transmit);
  // Checks the Q key, takes a receive, leaves room for the 40 bytes of the GRH (which the owner
  // fills in), completes. What cannot be delivered is dropped and counted.
  static void receive(const wire::Packet& packet, std::uint32_t qkey, Owner& owner);

 private:
  std::uint32_t source_qp_;
  std::uint32_t psn_ = 0;
};

}  // namespace gdr::engine
