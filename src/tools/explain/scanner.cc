#include "explain/scanner.h"

namespace gdr::explain {

struct Scanner::Trie {
  std::vector<std::vector<std::uint32_t>> children;  // by state and class; 0: none
  std::vector<std::vector<std::uint32_t>> words;     // that end in a state

  std::uint32_t add_state(std::uint32_t classes) {
    children.emplace_back(classes, 0);
    words.emplace_back();
    return static_cast<std::uint32_t>(children.size() - 1);
  }
};

Scanner::Scanner(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    for (const char c : word) {
      std::uint8_t& known = class_of_[static_cast<unsigned char>(c)];
      if (known == 0) known = static_cast<std::uint8_t>(classes_++);
    }
  }
  Trie trie;
  trie.add_state(classes_);
  for (std::uint32_t word = 0; word < words.size(); ++word) {
    std::uint32_t state = 0;
    for (const char c : words[word]) {
      const std::uint8_t step = class_of_[static_cast<unsigned char>(c)];
      if (trie.children[state][step] == 0) {
        const std::uint32_t added = trie.add_state(classes_);
        trie.children[state][step] = added;
      }
      state = trie.children[state][step];
    }
    if (state != 0) trie.words[state].push_back(word);
  }
  // Breadth first, so that where a state falls back to is complete before it is needed.
  std::vector<std::uint32_t> fallback(trie.children.size(), 0);
  std::vector<std::uint32_t> order{0};
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::uint32_t state = order[at];
    const std::uint32_t back = fallback[state];
    for (std::uint32_t step = 0; step < classes_; ++step) {
      std::uint32_t& child = trie.children[state][step];
      if (child == 0) {
        child = state == 0 ? 0 : trie.children[back][step];
        continue;
      }
      order.push_back(child);
      fallback[child] = state == 0 ? 0 : trie.children[back][step];
      const auto& shorter = trie.words[fallback[child]];
      trie.words[child].insert(trie.words[child].end(), shorter.begin(), shorter.end());
    }
  }
  for (std::size_t state = 0; state < trie.children.size(); ++state) {
    next_.insert(next_.end(), trie.children[state].begin(), trie.children[state].end());
    begin_.push_back(static_cast<std::uint32_t>(ends_.size()));
    ends_.insert(ends_.end(), trie.words[state].begin(), trie.words[state].end());
  }
  begin_.push_back(static_cast<std::uint32_t>(ends_.size()));
}

}  // namespace gdr::explain
