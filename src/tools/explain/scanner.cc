#include "explain/scanner.h"

#include <algorithm>
#include <utility>

namespace gdr::explain {

Scanner::Scanner(std::vector<std::string> words, const GramCounts& prose)
    : words_(std::move(words)) {
  constexpr std::size_t kPlaces = std::size_t{1} << kGramPlaceBits;
  begin_.resize(kPlaces + 1, 0);
  used_.resize(kPlaces / 64, 0);
  for (std::uint32_t word = 0; word < words_.size(); ++word) {
    if (words_[word].size() < kGram) {
      if (!words_[word].empty()) short_.push_back(word);
      continue;
    }
    const std::size_t offset = prose.rarest(words_[word]).at;
    const std::uint32_t gram = gram_at(words_[word].data() + offset);
    const std::uint32_t place = place_of(gram);
    parts_.push_back({gram, static_cast<std::uint32_t>(offset), word});
    ++begin_[place + 1];
    used_[place / 64] |= std::uint64_t{1} << place % 64;
  }
  for (std::size_t place = 0; place < kPlaces; ++place) begin_[place + 1] += begin_[place];
  std::stable_sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    return place_of(a.gram) < place_of(b.gram);
  });
}

}  // namespace gdr::explain
