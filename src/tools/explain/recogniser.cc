#include "explain/recogniser.h"

#include <algorithm>
#include <tuple>

#include "explain/pattern.h"
#include "explain/scanner.h"
#include "explain/word_tables.h"
#include "text/format.h"

namespace gdr::explain {
namespace {

constexpr std::size_t kLongestShown = 200;

// A log of NCCL is marked by this and by the same of warnings.
constexpr const char* kNcclInfo = " nccl info ";
constexpr std::size_t kNcclMarks = 2;

// Lines that are about one thing.
constexpr std::uint64_t kBlock = 10;

// Attempts of a library, and what was never run, count only in the words of one program.
bool is_no_complaint(std::string_view line) {
  static const Scanner marks(
      {" ucx debug ", " ucx trace ", " ucx data ", " ucx req ", "<debug>", "<trace>", "<info>",
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
       ": hash matches"},
      {});
  bool found = false;
  marks.scan(line, [&](std::size_t) { found = true; });
  return found;
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
  return std::ranges::find(cause.explains, effect.id) != cause.explains.end();
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

TextIndex texts_of(const SymptomTable& symptoms) {
  std::vector<std::string> marks = {kNcclInfo, " nccl warn "};
  const std::vector<std::string>& names = field_names();
  marks.insert(marks.end(), names.begin(), names.end());
  return {symptoms, std::move(marks)};
}

const TextIndex& built_in_texts() {
  static const TextIndex texts = texts_of(SymptomTable::built_in());
  return texts;
}

Recogniser::Recogniser(const TextIndex& texts)
    : texts_(texts),
      states_(texts.symptoms().all().size()),
      line_(texts),
      lines_([this](const nccl::Line& line) { take(line); }) {}

void Recogniser::take(const nccl::Line& line) {
  const std::string_view words = folded(line.text, buffer_);
  sets_.begin(words);
  matching_.clear();
  Scope closest = Scope::kLast;
  const auto try_text = [&](std::size_t text) {
    const TextIndex::Entry& entry = texts_.entries()[text];
    if (!entry.pattern.is_literal() && !entry.pattern.matches(words, sets_)) return;
    matching_.push_back(text);
    if (entry.part == 0) closest = std::min(closest, entry.scope);
  };
  line_.scan(words, try_text, [&](std::size_t mark) {
    if (mark < kNcclMarks) is_nccl_log_ = true;
    found_a_name(line.number);
  });
  if (matching_.empty()) return;
  if (is_no_complaint(words)) closest = Scope::kOwn;
  // NCCL tells there what it then does without.
  if (words.find(kNcclInfo) != std::string_view::npos) {
    closest = std::min(closest, Scope::kGeneral);
  }
  std::erase_if(matching_,
                [&](std::size_t text) { return texts_.entries()[text].scope > closest; });
  std::string buffer;
  for (const std::size_t text : matching_) {
    if (!is_told_by_another(text)) add(text, line, one_spaced(line.text, buffer));
  }
}

// One line that shows a cause and what follows from it shows the cause.
bool Recogniser::is_told_by_another(std::size_t text) const {
  const auto& entries = texts_.entries();
  const std::vector<Symptom>& all = texts_.symptoms().all();
  if (entries[text].part != 0) return false;
  const Symptom& effect = all[entries[text].symptom];
  return std::any_of(matching_.begin(), matching_.end(), [&](std::size_t other) {
    return entries[other].part == 0 && names(all[entries[other].symptom], effect);
  });
}

void Recogniser::add(std::size_t text, const nccl::Line& line, std::string_view words) {
  const TextIndex::Entry& entry = texts_.entries()[text];
  State& state = states_[entry.symptom];
  state.parts |= 1u << entry.part;
  if (entry.scope < state.nearest) state.letters = 0;
  state.nearest = std::min(state.nearest, entry.scope);
  if (entry.scope == state.nearest) {
    state.letters = std::max(state.letters, entry.letters);
  }
  if (entry.scope >= Scope::kFallback) look_for_a_name(entry.symptom, line.number);
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

void Recogniser::look_for_a_name(std::size_t symptom, std::uint64_t line) {
  State& state = states_[symptom];
  if (state.is_of_the_field) return;
  if (last_name_ != 0 && line - last_name_ <= kBlock) {
    state.is_of_the_field = true;
    return;
  }
  if (state.unnamed_line == 0) unnamed_.push_back(symptom);
  state.unnamed_line = line;
}

void Recogniser::found_a_name(std::uint64_t line) {
  last_name_ = line;
  for (const std::size_t symptom : unnamed_) {
    State& state = states_[symptom];
    state.is_of_the_field = line - state.unnamed_line <= kBlock;
    state.unnamed_line = 0;
  }
  unnamed_.clear();
}

Explanation Recogniser::finish() {
  lines_.finish();
  Explanation explanation;
  explanation.lines = lines_.count();
  explanation.is_nccl_log = is_nccl_log_;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    if ((state.parts >> TextIndex::kUnless & 1u) != 0) continue;
    const bool by_one = (state.parts & 1u) != 0;
    const bool by_parts = has_pair(state.parts);
    if (!by_one && !by_parts) continue;
    if (state.nearest >= Scope::kFallback && !state.is_of_the_field) continue;
    Recognition found{&texts_.symptoms().all()[i], {}, 0, nullptr, state.nearest, state.letters};
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
    return std::tuple(found.because_of != nullptr, !found.named(), found.symptom->certainty,
                      found.symptom->program == Program::kOther, found.seen.front().line,
                      ~found.letters);
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
