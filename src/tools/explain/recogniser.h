// Which symptoms a text shows, in whatever pieces it arrives. Memory is bounded by the number of
// symptoms and one line, whatever the text holds; nothing is judged of the host here.
//
//   Recogniser recogniser(built_in_texts());
//   while (more) recogniser.feed(bytes);
//   for (const Recognition& found : recogniser.finish().found) puts(found.symptom->title);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain/pattern.h"
#include "explain/symptom.h"
#include "explain/text_index.h"
#include "nccl/lines.h"

namespace gdr::explain {

// A line that shows a symptom, safe to print.
struct Seen {
  std::uint64_t line = 0;  // from 1
  std::string text;
};

constexpr std::size_t kMostSeen = 3;

struct Recognition {
  const Symptom* symptom = nullptr;
  std::vector<Seen> seen;   // the first few that differ
  std::uint64_t times = 0;  // lines that show it
  // A symptom that was recognised too, and is why this one is seen; null: none.
  const Symptom* because_of = nullptr;
  Scope nearest = Scope::kOwn;  // of the texts that show it
  std::size_t letters = 0;      // of the longest of these: the more, the less of a coincidence

  // Whether a text that says a reason shows it.
  [[nodiscard]] bool named() const { return nearest < Scope::kFallback; }
};

struct Explanation {
  std::vector<Recognition> found;  // what to look at first comes first
  std::uint64_t lines = 0;
  bool is_nccl_log = false;  // which `gdr nccl check` judges connection by connection
};

// Of the symptoms that this program has.
const TextIndex& built_in_texts();
// Of others. A log of NCCL is told by words that are no symptom's.
TextIndex texts_of(const SymptomTable& symptoms);

class Recogniser {
 public:
  // As texts_of() makes it; must outlive what is found.
  explicit Recogniser(const TextIndex& texts = built_in_texts());
  Recogniser(const Recogniser&) = delete;  // its Lines call back into it
  Recogniser& operator=(const Recogniser&) = delete;

  void feed(std::string_view bytes) { lines_.feed(bytes); }
  Explanation finish();

 private:
  // The lines that show one symptom.
  struct State {
    std::uint32_t parts = 0;  // bit N: a text of part N
    Scope nearest = Scope::kLast;
    std::size_t letters = 0;
    std::vector<Seen> seen[2];  // of the texts that are enough, and of the others
    std::uint64_t times[2] = {};
    std::uint64_t last_line[2] = {};
    // Of texts in anybody's words: whether a name of the field is near one, or else the last line.
    bool is_of_the_field = false;
    std::uint64_t unnamed_line = 0;
  };

  void take(const nccl::Line& line);
  bool is_told_by_another(std::size_t text) const;  // of those in matching_
  void add(std::size_t text, const nccl::Line& line, std::string_view words);
  void look_for_a_name(std::size_t symptom, std::uint64_t line);
  void found_a_name(std::uint64_t line);

  const TextIndex& texts_;
  std::vector<State> states_;  // by symptom, as in the table
  TextIndex::Line line_;
  std::vector<std::size_t> matching_;  // the texts that the line shows
  std::string buffer_;
  SetsOfLine sets_;
  bool is_nccl_log_ = false;
  std::uint64_t last_name_ = 0;       // the line of the last name of the field; 0: none yet
  std::vector<std::size_t> unnamed_;  // symptoms that may still have one near
  nccl::Lines lines_;
};

}  // namespace gdr::explain
