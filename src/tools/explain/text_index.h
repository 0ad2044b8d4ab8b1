// TextIndex: every text of every symptom, and which of them a line may show. A text is looked for
// by whatever it needs that is rarest in prose ("connection" is no good to search a log for, "
// rdma_resolve_addr" is), so that an ordinary line has nothing to try. Where a line has that, it is
// looked through once more for all that texts need besides.
//
//   const TextIndex index(SymptomTable::built_in(), {" nccl info "});
//   TextIndex::Line line(index);
//   line.scan("ibv_reg_mr failed", [&](std::size_t text) { ... index.entries()[text] ... },
//             [&](std::size_t mark) { ... });
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/pattern.h"
#include "explain/scanner.h"
#include "explain/symptom_table.h"

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
    std::size_t letters;               // of the pattern: how many characters stand as they are
    std::vector<std::uint32_t> needs;  // numbers of what it needs, if that is more than one thing
  };

  // `symptoms` must outlive it. `marks`: words that are looked for besides, folded.
  TextIndex(const SymptomTable& symptoms, std::vector<std::string> marks);

  [[nodiscard]] const SymptomTable& symptoms() const { return symptoms_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  // Lines, one after another; outlived by the index.
  class Line {
   public:
    explicit Line(const TextIndex& index)
        : index_(index), tried_(index.entries_.size(), 0), seen_(index.needs_, 0) {}

    // Tells the places of the entries that `line`, as folded() gives it, may show, each once, and
    // of the marks that it has.
    template <typename OnText, typename OnMark>
    void scan(std::string_view line, const OnText& on_text, const OnMark& on_mark) {
      ++line_;
      bool is_searched = false;
      index_.rare_.scan(line, [&](std::size_t word) {
        if (word < index_.marks_) return on_mark(word);
        for (const std::size_t text : index_.behind_[word - index_.marks_]) {
          if (std::exchange(tried_[text], line_) == line_) continue;
          const Entry& entry = index_.entries_[text];
          if (!entry.needs.empty() && !std::exchange(is_searched, true)) search(line);
          if (has_all(entry.needs)) on_text(text);
        }
      });
    }

   private:
    void search(std::string_view line);
    [[nodiscard]] bool has_all(const std::vector<std::uint32_t>& needs) const;

    const TextIndex& index_;
    std::uint64_t line_ = 0;
    std::vector<std::uint64_t> tried_;  // by entry: the line for which it was tried last
    std::vector<std::uint64_t> seen_;   // by need: the line in which it was seen last
  };

 private:
  TextIndex(const SymptomTable& symptoms, std::vector<std::string> marks, const GramCounts& prose);
  // Both give the words that a scanner then looks for.
  std::vector<std::string> look_for_rarest(std::vector<std::string> marks, const GramCounts& prose);
  std::vector<std::string> number_needs();

  const SymptomTable& symptoms_;
  std::vector<Entry> entries_;
  std::size_t marks_;  // come first among the rare words
  // By rare word: the entries that may be there where it is.
  std::vector<std::vector<std::size_t>> behind_;
  std::vector<std::uint32_t> need_of_;  // by word of needed_
  std::size_t needs_ = 0;
  Scanner rare_;
  Scanner needed_;
};

}  // namespace gdr::explain
