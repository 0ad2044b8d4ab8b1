#include "explain/gram.h"

namespace gdr::explain {

void GramCounts::add(std::string_view text) {
  for (std::size_t at = 0; at + kGram <= text.size(); ++at) {
    ++times_[place_of(gram_at(text.data() + at))];
  }
}

GramCounts::Rarest GramCounts::rarest(std::string_view word) const {
  Rarest rarest{0, times_[place_of(gram_at(word.data()))]};
  for (std::size_t at = 1; at + kGram <= word.size(); ++at) {
    const std::uint32_t times = times_[place_of(gram_at(word.data() + at))];
    if (times < rarest.times) rarest = {at, times};
  }
  return rarest;
}

}  // namespace gdr::explain
