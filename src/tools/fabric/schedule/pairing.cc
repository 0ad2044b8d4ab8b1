#include "fabric/schedule/pairing.h"

#include <algorithm>

namespace gdr::fabric {
namespace {

void add_pair(HostIndex one, HostIndex other, std::vector<Edge>* edges) {
  edges->push_back({one, other});
  edges->push_back({other, one});
}

}  // namespace

std::uint32_t tournament_rounds(std::uint32_t places) {
  if (places < 2) return 0;
  return places % 2 == 0 ? places - 1 : places;
}

void add_tournament_round(const std::vector<HostIndex>& of, std::uint32_t round,
                          std::vector<Edge>* edges) {
  const auto places = static_cast<std::uint32_t>(of.size());
  const std::uint32_t rounds = tournament_rounds(places);
  if (rounds == 0) return;
  // Places on the circle whose sum is the round's number meet. One meets itself: that is the one
  // for the place in the middle, or the one that rests.
  for (std::uint32_t place = 0; place < rounds; ++place) {
    const auto other = static_cast<std::uint32_t>((std::uint64_t{round} + rounds - place) % rounds);
    if (place < other) add_pair(of[place], of[other], edges);
    if (place == other && rounds < places) add_pair(of[place], of[rounds], edges);
  }
}

void add_crossing_round(const std::vector<HostIndex>& left, const std::vector<HostIndex>& right,
                        std::uint32_t round, std::vector<Edge>* edges) {
  const std::vector<HostIndex>& small = left.size() <= right.size() ? left : right;
  const std::vector<HostIndex>& large = left.size() <= right.size() ? right : left;
  for (std::size_t place = 0; place < small.size(); ++place) {
    add_pair(small[place], large[(place + round) % large.size()], edges);
  }
}

void add_shift_round(const std::vector<HostIndex>& of, std::uint32_t distance,
                     std::vector<Edge>* edges) {
  for (std::size_t place = 0; place < of.size(); ++place) {
    edges->push_back({of[place], of[(place + distance) % of.size()]});
  }
}

}  // namespace gdr::fabric
