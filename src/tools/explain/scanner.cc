#include "explain/scanner.h"

namespace gdr::explain {

Scanner::Scanner(const std::vector<std::string>& words) {
  std::size_t letters = 0;
  for (const std::string& word : words) {
    letters += word.size();
    for (const char c : word) {
      std::uint8_t& known = class_of_[static_cast<unsigned char>(c)];
      if (known == 0) known = static_cast<std::uint8_t>(classes_++);
    }
  }
  // First a tree, in which 0 is no child. It has a state for each letter at most; what is reserved
  // and stays unused is never touched.
  next_.reserve((letters + 1) * classes_);
  std::vector<std::vector<std::uint32_t>> words_of(1);  // that end in a state
  next_.resize(classes_, 0);
  for (std::uint32_t word = 0; word < words.size(); ++word) {
    std::uint32_t state = 0;
    for (const char c : words[word]) {
      const std::size_t at = state * classes_ + class_of_[static_cast<unsigned char>(c)];
      if (next_[at] == 0) {
        next_[at] = static_cast<std::uint32_t>(words_of.size());
        words_of.emplace_back();
        next_.resize(next_.size() + classes_, 0);
      }
      state = next_[at];
    }
    if (state != 0) words_of[state].push_back(word);
  }
  // Breadth first, so that where a state falls back to is complete before it is needed.
  std::vector<std::uint32_t> fallback(words_of.size(), 0);
  std::vector<std::uint32_t> order{0};
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::uint32_t state = order[at];
    const std::uint32_t back = fallback[state];
    for (std::uint32_t step = 0; step < classes_; ++step) {
      std::uint32_t& child = next_[state * classes_ + step];
      const std::uint32_t shorter = state == 0 ? 0 : next_[back * classes_ + step];
      if (child == 0) {
        child = shorter;
        continue;
      }
      order.push_back(child);
      fallback[child] = shorter;
      const auto& also = words_of[shorter];
      words_of[child].insert(words_of[child].end(), also.begin(), also.end());
    }
  }
  begin_.reserve(words_of.size() + 1);
  for (const auto& here : words_of) {
    begin_.push_back(static_cast<std::uint32_t>(ends_.size()));
    ends_.insert(ends_.end(), here.begin(), here.end());
  }
  begin_.push_back(static_cast<std::uint32_t>(ends_.size()));
}

}  // namespace gdr::explain
