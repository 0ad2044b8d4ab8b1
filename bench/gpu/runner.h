// Runner: makes the transfers of a case, or has them made, and takes the time.
//
//   Runner runner(side, peer, copier, /*in_flight=*/4);
//   const double seconds = runner.run(kGpuWrite, 64 << 20);
#pragma once

#include <cstddef>
#include <cstdint>

#include "cases.h"
#include "child.h"
#include "side.h"

namespace gdr::bench {

class Runner {
 public:
  Runner(Side& side, const Child& peer, const Child& copier, int in_flight)
      : side_(side), peer_(peer), copier_(copier), in_flight_(in_flight) {}

  static bool applies(CaseId id, std::size_t bytes);
  // Seconds of one of as many transfers as make a round. One more goes ahead, untimed: the first
  // finds the GPU with another process.
  double run(CaseId id, std::size_t bytes);
  // The same; ends the program where a byte of the last transfer (the last ones, of several in
  // flight) is not what was sent.
  double run_checked(CaseId id, std::size_t bytes);

 private:
  double requests(const Case& which, std::size_t bytes, int count);
  void post_and_take(const Case& which, std::size_t bytes, int count);
  double staged(std::size_t bytes, std::size_t chunk, int count);
  // In the process that it is about: the peer, the one for bare copies, or this one.
  std::uint64_t fill_or_compare_at(bool at_peer, const Case& which, const Order& order);
  int count(const Case& which, std::size_t bytes) const;

  Side& side_;
  const Child& peer_;
  const Child& copier_;
  const int in_flight_;
  std::uint64_t seed_ = 0;
};

}  // namespace gdr::bench
