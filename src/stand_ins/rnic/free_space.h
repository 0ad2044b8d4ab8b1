// FreeSpace: which parts of a range are taken, so that taking one and giving it back cost the same
// however many there are (the logarithm of their number).
//
//   FreeSpace space(begin, end);
//   std::optional<std::uint64_t> at = space.take(4096);   // nothing: there is no gap so long
//   space.give_back(*at);                                 // how long it was
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gdr::rnic {

class FreeSpace {
 public:
  FreeSpace(std::uint64_t begin, std::uint64_t end);

  // The shortest gap that is long enough; of several as long, the first.
  std::optional<std::uint64_t> take(std::uint64_t length);
  // Its length; 0 when nothing begins there.
  std::uint64_t length_at(std::uint64_t offset) const;
  std::uint64_t give_back(std::uint64_t offset);

 private:
  void add_gap(std::uint64_t offset, std::uint64_t length);
  void remove_gap(std::map<std::uint64_t, std::uint64_t>::iterator gap);

  std::map<std::uint64_t, std::uint64_t> taken_, gaps_;          // offset -> length
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_length_;  // the gaps: length, offset
};

}  // namespace gdr::rnic
