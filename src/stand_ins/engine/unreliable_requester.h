// UnreliableRequester: the sending half of an unreliable connection (UC, 9.8.2). Nobody answers, so
// a work completes when its last packet has left.
#pragma once

#include <cstdint>

#include "engine/connection.h"
#include "engine/packet_maker.h"

namespace gdr::engine {

class UnreliableRequester {
 public:
  UnreliableRequester(const ConnectionSettings& connection, const SendSettings& settings,
                      Owner& owner);
  bool poll_transmit(Transmit* transmit);
  // Every packet that poll_transmit() gave has left: their works complete.
  void sent();
  Nanoseconds next_timeout() const;
  void payload_unavailable(const Transmit& transmit);
  void stop() { stopped_ = true; }

 private:
  bool load_work();

  Owner& owner_;
  PacketMaker maker_;
  std::uint32_t path_mtu_;
  std::uint32_t psn_;
  bool stopped_ = false;
  bool loaded_ = false;
  Work work_;                // the one that is being sent
  std::uint32_t sent_ = 0;   // its packets
  bool wants_poll_ = false;  // after local work there is more to send
  bool local_waits_ = false;
  std::uint32_t ended_ = 0;  // works before it, of which all packets were given out
};

}  // namespace gdr::engine
