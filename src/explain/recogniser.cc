#include "explain/recogniser.h"

#include <algorithm>
#include <tuple>

#include "explain/pattern.h"
#include "explain/scanner.h"
#include "tool/text.h"

namespace gdr::explain {
namespace {

constexpr std::size_t kLongestShown = 200;

// Every text of every symptom, ready to be searched.
struct Texts {
  struct Entry {
    std::size_t symptom;
    unsigned part;
    Pattern pattern;
  };
  std::vector<Entry> entries;
  std::vector<std::uint32_t> parts;  // by symptom: the bits of its parts
  Scanner scanner;
};

// The words that mark a log of NCCL come behind those of the texts.
constexpr const char* kNcclWords[] = {" NCCL INFO ", " NCCL WARN "};

const Texts& texts() {
  static const Texts all = [] {
    std::vector<Texts::Entry> entries;
    std::vector<std::uint32_t> parts(all_symptoms().size(), 0);
    std::vector<std::string> anchors;
    for (std::size_t symptom = 0; symptom < all_symptoms().size(); ++symptom) {
      for (const Text& text : all_symptoms()[symptom]->texts) {
        entries.push_back({symptom, text.part, Pattern(text.pattern)});
        anchors.push_back(entries.back().pattern.anchor());
        parts[symptom] |= 1u << text.part;
      }
    }
    for (const char* word : kNcclWords) anchors.emplace_back(word);
    return Texts{std::move(entries), std::move(parts), Scanner(anchors)};
  }();
  return all;
}

std::string shown(std::string_view words) {
  if (words.size() <= kLongestShown) return tool::printable(words);
  return tool::printable(words.substr(0, kLongestShown)) + "…";
}

bool names(const Symptom& cause, const Symptom& effect) {
  return std::any_of(cause.explains.begin(), cause.explains.end(),
                     [&](std::string_view id) { return id == effect.id; });
}

const Recognition* cause_of(const std::vector<Recognition>& found, const Symptom& effect) {
  for (const Recognition& cause : found) {
    if (names(*cause.symptom, effect)) return &cause;
  }
  return nullptr;
}

// What an effect is shown below is the root: its own cause may be an effect, too.
void find_causes(std::vector<Recognition>& found) {
  for (Recognition& effect : found) {
    const Recognition* cause = cause_of(found, *effect.symptom);
    while (cause != nullptr) {
      effect.because_of = cause->symptom;
      cause = cause_of(found, *cause->symptom);
    }
  }
}

}  // namespace

Recogniser::Recogniser()
    : states_(all_symptoms().size()),
      tried_(texts().entries.size(), 0),
      lines_([this](const nccl::Line& line) { take(line); }) {}

void Recogniser::take(const nccl::Line& line) {
  const Texts& all = texts();
  const std::string_view words = one_spaced(line.text, buffer_);
  ++piece_;
  all.scanner.scan(words, [&](std::size_t text) {
    if (text >= all.entries.size()) {
      is_nccl_log_ = true;
    } else if (tried_[text] != piece_) {
      tried_[text] = piece_;
      if (all.entries[text].pattern.matches(words)) add(text, line, words);
    }
  });
}

void Recogniser::add(std::size_t text, const nccl::Line& line, std::string_view words) {
  const Texts::Entry& entry = texts().entries[text];
  State& state = states_[entry.symptom];
  state.parts |= 1u << entry.part;
  const std::size_t kind = entry.part == 0 ? 0 : 1;
  if (state.last_line[kind] == line.number) return;
  state.last_line[kind] = line.number;
  ++state.times[kind];
  std::vector<Seen>& seen = state.seen[kind];
  if (seen.size() == kMostSeen) return;
  Seen added{line.number, shown(words)};
  for (const Seen& known : seen) {
    if (known.text == added.text) return;
  }
  seen.push_back(std::move(added));
}

Explanation Recogniser::finish() {
  lines_.finish();
  Explanation explanation;
  explanation.lines = lines_.count();
  explanation.is_nccl_log = is_nccl_log_;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    const std::uint32_t needed = texts().parts[i] & ~1u;
    const bool by_one = (state.parts & 1u) != 0;
    const bool by_parts = needed != 0 && (state.parts & needed) == needed;
    if (!by_one && !by_parts) continue;
    Recognition found{all_symptoms()[i], {}, 0, nullptr};
    for (const std::size_t kind : {0, 1}) {
      if (kind == 1 && !by_parts) continue;
      found.times += state.times[kind];
      for (Seen& seen : state.seen[kind]) found.seen.push_back(std::move(seen));
    }
    std::sort(found.seen.begin(), found.seen.end(),
              [](const Seen& a, const Seen& b) { return a.line < b.line; });
    explanation.found.push_back(std::move(found));
  }
  find_causes(explanation.found);
  const auto order = [](const Recognition& found) {
    return std::tuple(found.because_of != nullptr, found.symptom->certainty,
                      found.seen.front().line);
  };
  std::stable_sort(explanation.found.begin(), explanation.found.end(),
                   [&](const Recognition& a, const Recognition& b) { return order(a) < order(b); });
  return explanation;
}

}  // namespace gdr::explain
