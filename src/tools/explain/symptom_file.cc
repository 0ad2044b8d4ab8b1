#include "explain/symptom_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/environment.h"
#include "base/printable.h"

namespace gdr::explain {
namespace {

enum class Section {
  kNone,
  kSkipped,
  kTitle,
  kSure,
  kChecks,
  kExplains,
  kTexts,
  kTogether,
  kAnd,
  kUnless,
  kSeen,
  kCause,
  kConsequence,
  kFixNow,
  kFixForGood,
  kSources
};

struct Heading {
  std::string_view name;
  Section section;
  Scope scope = Scope::kOwn;
  bool is_key = false;  // its value begins in the same line, behind a colon
};

constexpr Heading kHeadings[] = {
    {"title", Section::kTitle, {}, true},
    {"sure", Section::kSure, {}, true},
    {"checks", Section::kChecks, {}, true},
    {"explains", Section::kExplains, {}, true},
    {"texts", Section::kTexts},
    {"texts in any words", Section::kTexts, Scope::kGeneral},
    {"texts without a reason", Section::kTexts, Scope::kFallback},
    {"texts where nothing else fits", Section::kTexts, Scope::kLast},
    {"together", Section::kTogether},
    {"together where nothing else fits", Section::kTogether, Scope::kLast},
    {"and", Section::kAnd},
    {"unless", Section::kUnless},
    {"seen", Section::kSeen},
    {"cause", Section::kCause},
    {"leads to", Section::kConsequence},
    {"fix now", Section::kFixNow},
    {"fix for good", Section::kFixForGood},
    {"sources", Section::kSources},
};

constexpr std::string_view kCertainties[] = {"certain", "likely", "possible"};
constexpr std::string_view kStatements[] = {"cause and fix", "cause", "fix", "text only"};
// What an editor would take from the end of a line, and a reader would not see there.
constexpr std::string_view kSpace = "{space}";

const Heading* heading_in(std::string_view line) {
  const std::size_t colon = line.find(':');
  for (const Heading& heading : kHeadings) {
    const std::string_view name = heading.is_key ? line.substr(0, colon) : line;
    if (name == heading.name && (!heading.is_key || colon != std::string_view::npos))
      return &heading;
  }
  return nullptr;
}

std::string all_headings() {
  std::string all;
  for (const Heading& heading : kHeadings) {
    all += fmt::format("{}{}{}", all.empty() ? "" : ", ", heading.name, heading.is_key ? ":" : "");
  }
  return all;
}

template <typename Value>
std::optional<Value> value_of(std::span<const std::string_view> names, std::string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return static_cast<Value>(at - names.begin());
}

void append(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += ' ';
  text += more;
}

std::string pattern_of(std::string_view line) {
  std::string pattern(line);
  for (std::size_t at = 0; (at = pattern.find(kSpace, at)) != std::string::npos; ++at) {
    pattern.replace(at, kSpace.size(), " ");
  }
  return pattern;
}

// Nearly every line is.
bool is_plain(std::string_view words) {
  return std::ranges::all_of(words, [](char c) { return c >= ' ' && c <= '~'; });
}

class Reader {
 public:
  Reader(std::string_view path, std::vector<Fault>& faults) : faults_(faults) {
    symptom_.file = path;
    const std::size_t slash = path.find('/');
    const std::string_view chapter = path.substr(0, std::min(slash, path.size()));
    const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    symptom_.id = name.substr(0, name.rfind(".txt"));
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Program::kOther); ++i) {
      symptom_.program = static_cast<Program>(i);
      if (chapter == folder_of(symptom_.program)) return;
    }
    fault(fmt::format("unknown chapter '{}'", printable(chapter)));
  }

  Symptom read(std::string_view text) {
    for (const std::string_view line : split(text, '\n')) {
      ++line_;
      take(line);
    }
    line_ = 0;
    finish();
    return std::move(symptom_);
  }

 private:
  void fault(std::string what) { faults_.push_back({symptom_.file, line_, std::move(what)}); }

  void take(std::string_view line) {
    const std::string_view words = trimmed(line);
    if (words.empty() || line.front() == '#') return;
    if (!is_plain(words) && printable(words) != words)
      return fault("a character that cannot be shown");
    if (words.data() != line.data())
      return section_ == Section::kNone ? fault_of_place() : add(words);
    const Heading* heading = heading_in(words);
    if (heading == nullptr) {
      section_ = Section::kSkipped;  // This is told of once.
      return fault(fmt::format("unknown section '{}'; there are: {}", words, all_headings()));
    }
    begin(*heading);
    if (heading->is_key) add(trimmed(words.substr(heading->name.size() + 1)));
  }

  void fault_of_place() { fault("a line with spaces in front of it belongs to no section"); }

  void begin(const Heading& heading) {
    if (heading.section == Section::kAnd) {
      if (section_ != Section::kTogether) return fault("'and' without 'together' before it");
      ++part_;
    } else {
      scope_ = heading.scope;
      if (heading.section == Section::kTogether) part_ = next_pair();
    }
    section_ = heading.section;
  }

  // Parts 1 and 2 are a pair, 3 and 4 the next.
  [[nodiscard]] unsigned next_pair() const {
    unsigned last = 0;
    for (const Text& text : symptom_.texts) last = std::max(last, text.part);
    return last + 1 + last % 2;
  }

  void add(std::string_view words) {
    switch (section_) {
      case Section::kTitle:
        return append(symptom_.title, words);
      case Section::kSure:
        return add_certainty(words);
      case Section::kChecks:
        return add_names(words, symptom_.checks);
      case Section::kExplains:
        return add_names(words, symptom_.explains);
      case Section::kTexts:
        return add_text(words, 0);
      case Section::kTogether:
      case Section::kAnd:
        return add_text(words, part_);
      case Section::kUnless:
        return symptom_.unless.push_back(pattern_of(words));
      case Section::kCause:
        return append(symptom_.cause, words);
      case Section::kConsequence:
        return append(symptom_.consequence, words);
      case Section::kFixNow:
        return add_step(words, symptom_.fix_now);
      case Section::kFixForGood:
        return add_step(words, symptom_.fix_for_good);
      case Section::kSources:
        return add_source(words);
      case Section::kSeen:
        return add_seen(words);
      case Section::kSkipped:
      case Section::kNone:
        return;
    }
  }

  void add_certainty(std::string_view word) {
    const auto certainty = value_of<Certainty>(kCertainties, word);
    if (!certainty) return fault(fmt::format("'{}' is neither certain, likely nor possible", word));
    symptom_.certainty = *certainty;
    has_certainty_ = true;
  }

  static void add_names(std::string_view words, std::vector<std::string>& names) {
    while (!words.empty()) {
      const std::size_t comma = std::min(words.find(','), words.size());
      const std::string_view name = trimmed(words.substr(0, comma));
      if (!name.empty()) names.emplace_back(name);
      words.remove_prefix(std::min(comma + 1, words.size()));
    }
  }

  void add_text(std::string_view words, unsigned part) {
    symptom_.texts.push_back({pattern_of(words), part, scope_, line_});
  }

  void add_step(std::string_view words, std::vector<Step>& steps) {
    if (words.starts_with("- ")) {
      steps.push_back({std::string(trimmed(words.substr(2)))});
    } else if (steps.empty()) {
      return fault("a step begins with '- '");
    } else {
      append(steps.back().text, words);
    }
  }

  void add_seen(std::string_view words) {
    if (words.starts_with("@ ")) {
      symptom_.seen.push_back({std::string(words.substr(2)), "", line_});
    } else if (symptom_.seen.empty()) {
      fault("a text that was seen begins with '@ ' and its source");
    } else {
      symptom_.seen.back().text.append(words).append(1, '\n');
    }
  }

  void add_source(std::string_view words) {
    const std::size_t space = words.find(" (");
    const std::string_view statement = space == std::string_view::npos || words.back() != ')'
                                           ? std::string_view{}
                                           : words.substr(space + 2, words.size() - space - 3);
    const auto stated = value_of<Stated>(kStatements, statement);
    if (!stated || !words.starts_with("https://")) {
      return fault(
          "a source is an https address and what it states in parentheses: cause and fix, cause, "
          "fix, or text only");
    }
    symptom_.sources.push_back({std::string(words.substr(0, space)), *stated});
  }

  void finish() {
    for (std::vector<Step>* steps : {&symptom_.fix_now, &symptom_.fix_for_good}) {
      for (Step& step : *steps) mark_command(step);
    }
    const auto need = [this](bool is_there, std::string_view what) {
      if (!is_there) fault(fmt::format("'{}' is missing", what));
    };
    need(!symptom_.title.empty(), "title:");
    need(has_certainty_, "sure:");
    need(!symptom_.texts.empty(), "texts");
    need(!symptom_.cause.empty(), "cause");
    need(!symptom_.consequence.empty(), "leads to");
    need(!symptom_.fix_now.empty() || !symptom_.fix_for_good.empty(), "fix now");
    need(!symptom_.sources.empty(), "sources");
    for (const Text& text : symptom_.texts) {
      if (text.part == 0) continue;
      const unsigned other = text.part % 2 == 1 ? text.part + 1 : text.part - 1;
      need(std::ranges::any_of(symptom_.texts, [&](const Text& one) { return one.part == other; }),
           other > text.part ? "and" : "together");
    }
  }

  static void mark_command(Step& step) {
    std::string& text = step.text;
    if (text.size() < 3 || text.front() != '`' || text.find('`', 1) != text.size() - 1) return;
    text = text.substr(1, text.size() - 2);
    step.is_command = true;
  }

  std::vector<Fault>& faults_;
  Symptom symptom_;
  Section section_ = Section::kNone;
  Scope scope_ = Scope::kOwn;
  unsigned line_ = 0;
  unsigned part_ = 0;
  bool has_certainty_ = false;
};

}  // namespace

std::string Fault::shown() const {
  if (line == 0) return fmt::format("{}: {}", printable(file), what);
  return fmt::format("{}:{}: {}", printable(file), line, what);
}

Symptom read_symptom(std::string_view path, std::string_view text, std::vector<Fault>& faults) {
  return Reader(path, faults).read(text);
}

}  // namespace gdr::explain
