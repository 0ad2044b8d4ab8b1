// FaultyPort: a port that loses, repeats, reorders, corrupts, marks and delays packets on their way
// out, by a seeded generator: what programs and tests run on to see what a bad network does.
//
//   GDR_SOFT_FAULTS='loss=0.01,duplicate=0.01,reorder=0.02,corrupt=0.001,delay=100us,seed=7'
//   GDR_SOFT_FAULTS='mark=0.1'    marked as by a router that is full (ECN)
//   GDR_SOFT_FAULTS='damage=0.1'  a bit of the payload is wrong and the ICRC right, as of a NIC
//   that
//                                 reads memory wrongly: only who compares the bytes notices
//
//   Result<Faults> faults = parse_faults("loss=0.01,seed=7");
//   auto port = std::make_unique<FaultyPort>(std::move(udp_port), *faults);
//
// Rates are probabilities of a packet, 0 to 1. A reordered packet leaves behind the next one or, if
// none comes, a millisecond later. Packets are sent one by one: no segmentation offload.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/port.h"

namespace gdr::net {

struct Faults {
  double loss = 0, duplicate = 0, reorder = 0, corrupt = 0, mark = 0, damage = 0;
  Nanoseconds delay = 0;
  std::uint64_t seed = 1;
};

// EINVAL with one line that names the part at fault and what is allowed.
Result<Faults> parse_faults(std::string_view text);

class FaultyPort : public Port {
 public:
  FaultyPort(std::unique_ptr<Port> inner, const Faults& faults);

  int send(const Burst& burst) override;
  bool receive(Arrival* arrival) override;
  int descriptor() const override { return inner_->descriptor(); }
  const wire::Address& address() const override { return inner_->address(); }
  Nanoseconds next_timeout() const override;

 private:
  struct Single {
    wire::Address destination;
    std::uint16_t source_port;
    std::uint8_t traffic_class;
    bool congested;
    std::vector<std::byte> bytes;
  };
  struct Waiting {
    Nanoseconds due;
    bool reordered;
    Single packet;
  };
  bool happens(double rate);
  void renumber(Single& packet, std::uint16_t place);
  void damage(Single& packet) const;
  void seal(Single& packet) const;
  int send_once(const Single& packet, bool reorders);
  void put_off(Waiting waiting);
  void send_reordered();
  int send_now(const Single& packet);
  void send_due(Nanoseconds time);

  const std::unique_ptr<Port> inner_;
  const Faults faults_;
  mutable std::mutex mutex_;
  std::uint64_t random_;
  std::deque<Waiting> waiting_;  // by when they are due
};

}  // namespace gdr::net
