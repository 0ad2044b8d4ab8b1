// TextIndex: every text of every symptom, each looked for by whatever it needs that is rarest in
// prose, so that an ordinary line has nothing to try ("connection" is no good to search a log for,
// " rdma_resolve_addr" is).
//
//   const TextIndex index(all_symptoms(), {" nccl info "});
//   index.scan(line, [&](std::size_t text) { ... index.entries()[text].pattern ... },
//              [&](std::size_t mark) { ... });
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explain/pattern.h"
#include "explain/scanner.h"
#include "explain/symptom.h"

namespace gdr::explain {

class TextIndex {
 public:
  // The part of what says that it is not this symptom.
  static constexpr unsigned kUnless = 31;

  struct Entry {
    std::size_t symptom;  // its place in the list
    unsigned part;
    Scope scope;
    Pattern pattern;
  };

  // `marks`: words that are looked for besides, folded.
  TextIndex(const std::vector<const Symptom*>& symptoms, std::vector<std::string> marks);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  // Tells the places of the entries that `line`, as folded() gives it, may show, and of the marks
  // that it has, some more than once.
  template <typename OnText, typename OnMark>
  void scan(std::string_view line, const OnText& on_text, const OnMark& on_mark) const {
    scanner_.scan(line, [&](std::size_t word, std::size_t) {
      if (word < marks_) return on_mark(word);
      for (const std::size_t entry : behind_[word - marks_]) on_text(entry);
    });
  }

 private:
  std::vector<Entry> entries_;
  std::size_t marks_;  // come first among the words
  // By word: the entries that may be there where it is.
  std::vector<std::vector<std::size_t>> behind_;
  Scanner scanner_;
};

}  // namespace gdr::explain
