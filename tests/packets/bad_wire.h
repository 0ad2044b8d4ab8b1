// BadWire: a cable between two network namespaces that loses, repeats, reorders, corrupts, delays
// and marks RoCE packets, outside of the programs under test. TCP passes untouched, so that what
// programs tell each other beforehand takes no time.
//
//   BadWire wire({open_tun("wire0"), other_end}, faults);   // each opened in its own namespace
//   wire.run();                                             // until the process ends
//
// The kernel has segmented and checksummed what comes out of a tun device: packets are as on a
// network. The faults are net::Faults; the generator is another one than FaultyPort's.
#pragma once

#include <array>
#include <cstddef>
#include <queue>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "net/faulty_port.h"

namespace gdr::test {

// In the calling thread's network namespace, down; errno with the reason.
Result<UniqueFd> open_tun(const std::string& name);

class BadWire {
 public:
  BadWire(std::array<UniqueFd, 2> ends, const net::Faults& faults);
  // Until an end is gone.
  void run();

 private:
  struct Packet {
    Nanoseconds due;
    std::uint64_t number;  // of those due at one time, the order
    std::size_t to;
    std::vector<std::byte> bytes;
  };
  struct Later {
    bool operator()(const Packet& a, const Packet& b) const {
      return a.due != b.due ? a.due > b.due : a.number > b.number;
    }
  };
  bool happens(double rate) { return std::uniform_real_distribution<double>()(random_) < rate; }
  bool forward_from(std::size_t end);
  void spoil(std::size_t to, std::vector<std::byte> bytes);
  void send(std::size_t to, std::span<const std::byte> bytes);
  void send_due();

  const std::array<UniqueFd, 2> ends_;
  const net::Faults faults_;
  std::mt19937_64 random_;
  std::uint64_t next_number_ = 0;
  std::priority_queue<Packet, std::vector<Packet>, Later> waiting_;
};

}  // namespace gdr::test
