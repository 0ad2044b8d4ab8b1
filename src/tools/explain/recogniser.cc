#include "explain/recogniser.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "explain/pattern.h"
#include "explain/scanner.h"
#include "text/format.h"

namespace gdr::explain {
namespace {

constexpr std::size_t kLongestShown = 200;

// The part of what says that it is not this symptom.
constexpr unsigned kUnless = 31;

// Every text of every symptom, ready to be searched.
struct Texts {
  struct Entry {
    std::size_t symptom;
    unsigned part;
    Scope scope;
    Pattern pattern;
  };
  std::vector<Entry> entries;
  // By word that is searched for: the entries that may be there where it is.
  std::vector<std::vector<std::size_t>> behind;
  Scanner scanner;
};

// The words that mark a log of NCCL come behind those of the texts.
constexpr const char* kNcclWords[] = {" nccl info ", " nccl warn "};

std::vector<Text> texts_of(const Symptom& symptom) {
  std::vector<Text> list = symptom.texts;
  for (const char* pattern : symptom.unless) list.push_back({pattern, kUnless});
  return list;
}

const Texts& texts() {
  static const Texts all = [] {
    std::vector<Texts::Entry> entries;
    std::vector<std::string> words;
    std::vector<std::vector<std::size_t>> behind;
    std::map<std::string, std::size_t> places;  // in `words`
    for (std::size_t symptom = 0; symptom < all_symptoms().size(); ++symptom) {
      for (const Text& text : texts_of(*all_symptoms()[symptom])) {
        entries.push_back({symptom, text.part, text.scope, Pattern(text.pattern)});
        for (const std::string& word : entries.back().pattern.anchors()) {
          const auto [place, added] = places.emplace(word, words.size());
          if (added) {
            words.push_back(word);
            behind.emplace_back();
          }
          behind[place->second].push_back(entries.size() - 1);
        }
      }
    }
    for (const char* word : kNcclWords) words.emplace_back(word);
    return Texts{std::move(entries), std::move(behind), Scanner(words)};
  }();
  return all;
}

// Attempts of a library, and what was never run, count only in the words of one program.
bool is_no_complaint(std::string_view line) {
  constexpr std::string_view kMarks[] = {
      " ucx debug ", " ucx trace ", " ucx data ", " ucx req ", "<debug>", "<trace>", "<info>",
      "[trace]",
      // A compiler's command line.
      " -werror", " -wall", " -wextra", " -wno-",
      // Compilers, linkers and configure name calls that have not run.
      "undefined reference to ", "' undeclared", "implicit declaration of function",
      "was not declared in this scope", "has no member", "unknown type name '",
      "conflicting types for '", "redefinition of '", "arguments to function '",
      "invalid conversion from '", "undeclared identifier '", "cannot find function '",
      ".h: no such file", ".h' file not found",
      "configure: error: ", "configure: warning: ", "custom build command for ",
      // A test that provokes it.
      " as expected",
      // The kernel, of the first module that is not its own.
      ": module verification failed: signature",
      // Its trace of the last suspend, of any device.
      ": hash matches"};
  return std::any_of(std::begin(kMarks), std::end(kMarks), [&](std::string_view mark) {
    return line.find(mark) != std::string_view::npos;
  });
}

std::string shown(std::string_view words) {
  if (words.size() <= kLongestShown) return printable(words);
  return printable(words.substr(0, kLongestShown)) + "…";
}

// Parts 1 and 2, or 3 and 4, and so on.
bool has_pair(std::uint32_t parts) {
  constexpr std::uint32_t kFirstOfPairs = 0x2aaaaaaa;
  return (parts & (parts >> 1) & kFirstOfPairs) != 0;
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

// That something in a library failed says nothing where another line says what.
void put_below_a_reason(std::vector<Recognition>& found) {
  const auto reason = std::find_if(found.begin(), found.end(), [](const Recognition& each) {
    return each.named() && each.because_of == nullptr;
  });
  if (reason == found.end()) return;
  for (Recognition& each : found) {
    if (each.nearest == Scope::kLast && each.because_of == nullptr)
      each.because_of = reason->symptom;
  }
}

// An effect is listed below its root, since its direct cause may be an effect too.
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
  const std::string_view words = folded(line.text, buffer_);
  ++piece_;
  sets_.begin(words);
  matching_.clear();
  Scope closest = Scope::kLast;
  all.scanner.scan(words, [&](std::size_t word) {
    if (word >= all.behind.size()) {
      is_nccl_log_ = true;
      return;
    }
    for (const std::size_t text : all.behind[word]) {
      if (tried_[text] == piece_) continue;
      tried_[text] = piece_;
      const Texts::Entry& entry = all.entries[text];
      if (!entry.pattern.matches(words, sets_)) continue;
      matching_.push_back(text);
      if (entry.part == 0) closest = std::min(closest, entry.scope);
    }
  });
  if (matching_.empty()) return;
  if (is_no_complaint(words)) closest = Scope::kOwn;
  // NCCL tells there what it then does without.
  if (words.find(kNcclWords[0]) != std::string_view::npos)
    closest = std::min(closest, Scope::kGeneral);
  std::erase_if(matching_, [&](std::size_t text) { return all.entries[text].scope > closest; });
  std::string buffer;
  for (const std::size_t text : matching_) {
    if (!is_told_by_another(text)) add(text, line, one_spaced(line.text, buffer));
  }
}

// One line that shows a cause and what follows from it shows the cause.
bool Recogniser::is_told_by_another(std::size_t text) const {
  const auto& entries = texts().entries;
  if (entries[text].part != 0) return false;
  const Symptom& effect = *all_symptoms()[entries[text].symptom];
  return std::any_of(matching_.begin(), matching_.end(), [&](std::size_t other) {
    return entries[other].part == 0 && names(*all_symptoms()[entries[other].symptom], effect);
  });
}

void Recogniser::add(std::size_t text, const nccl::Line& line, std::string_view words) {
  const Texts::Entry& entry = texts().entries[text];
  State& state = states_[entry.symptom];
  state.parts |= 1u << entry.part;
  state.nearest = std::min(state.nearest, entry.scope);
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
    if ((state.parts >> kUnless & 1u) != 0) continue;
    const bool by_one = (state.parts & 1u) != 0;
    const bool by_parts = has_pair(state.parts);
    if (!by_one && !by_parts) continue;
    Recognition found{all_symptoms()[i], {}, 0, nullptr, state.nearest};
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
    return std::tuple(found.because_of != nullptr, found.symptom->program == Program::kOther,
                      !found.named(), found.symptom->certainty, found.seen.front().line);
  };
  const auto sort = [&] {
    std::stable_sort(
        explanation.found.begin(), explanation.found.end(),
        [&](const Recognition& a, const Recognition& b) { return order(a) < order(b); });
  };
  sort();
  put_below_a_reason(explanation.found);
  sort();
  return explanation;
}

}  // namespace gdr::explain
