#include "explain/symptom_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/printable.h"
#include "doctor/checks/all.h"
#include "explain/pattern.h"
#include "explain/recogniser.h"
#include "explain/symptom_table.h"
#include "explain/word_set.h"

namespace gdr::explain {
namespace {

constexpr std::string_view kHoles[] = {"", "number", "above-zero", "word", "end"};

bool is_id(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// Empty: well.
std::string unknown_hole_in(std::string_view pattern) {
  for (std::size_t at = 0; (at = pattern.find('{', at)) != std::string_view::npos; ++at) {
    const std::size_t end = pattern.find('}', at);
    if (end == std::string_view::npos) continue;
    const std::string_view name = pattern.substr(at + 1, end - at - 1);
    if (std::ranges::find(kHoles, name) == std::end(kHoles) && find_word_set(name) == nullptr)
      return std::string(name);
  }
  return {};
}

// A line is searched for words that the text needs. Where all of them were short, they would be
// found everywhere: a text that has only such ones, as an idea in anybody's words has, needs
// something else besides.
bool has_word_to_search_for(const std::string& pattern) {
  const std::size_t least = pattern.find("&&") != std::string::npos ? 4 : 7;
  const Pattern parsed(pattern);
  return std::ranges::any_of(parsed.needs(), [&](const auto& need) {
    return std::ranges::all_of(need, [&](const std::string& word) { return word.size() >= least; });
  });
}

void check_text(const Symptom& symptom, const Text& text, std::vector<Fault>& faults) {
  const auto fault = [&](std::string what) {
    faults.push_back({symptom.file, text.line, std::move(what)});
  };
  if (const std::string name = unknown_hole_in(text.pattern); !name.empty()) {
    return fault(fmt::format("unknown word set '{{{}}}'", name));
  }
  if (text.pattern.find("  ") != std::string::npos) {
    return fault("two spaces: logs are searched with one wherever they have several");
  }
  if (!has_word_to_search_for(text.pattern)) {
    fault("too short: one part must have 7 characters, or 4 beside others joined by &&");
  }
}

// Whether `from` explains `to`, over others.
bool leads_to(const SymptomTable& table, const Symptom& from, const Symptom& to,
              std::size_t depth = 0) {
  if (&from == &to || depth > table.all().size()) return true;
  return std::ranges::any_of(from.explains, [&](const std::string& id) {
    const Symptom* next = table.find(id);
    return next != nullptr && leads_to(table, *next, to, depth + 1);
  });
}

void check_effects(const SymptomTable& table, const Symptom& symptom, std::vector<Fault>& faults) {
  for (const std::string& id : symptom.explains) {
    const Symptom* effect = table.find(id);
    if (effect == nullptr) {
      faults.push_back({symptom.file, 0, fmt::format("explains '{}', which is no symptom", id)});
    } else if (leads_to(table, *effect, symptom)) {
      // In a circle nothing would be the cause.
      faults.push_back({symptom.file, 0, fmt::format("explains '{}', which explains it", id)});
    }
  }
}

}  // namespace

void check_symptom(const Symptom& symptom, std::vector<Fault>& faults) {
  const auto fault = [&](std::string what) {
    faults.push_back({symptom.file, 0, std::move(what)});
  };
  if (!is_id(symptom.id)) {
    fault("the file's name is no id: lower case letters, digits and dashes, then '.txt'");
  }
  for (const Text& text : symptom.texts) check_text(symptom, text, faults);
  for (const std::string& pattern : symptom.unless) {
    if (Pattern(pattern).needs().empty() || !unknown_hole_in(pattern).empty()) {
      fault(fmt::format("'{}' below 'unless' looks for nothing", pattern));
    }
  }
  for (const std::string& check : symptom.checks) {
    if (doctor::find_check(check) == nullptr) {
      fault(fmt::format("unknown check '{}'; 'gdr doctor --list' shows all", check));
    }
  }
  for (const std::string* prose : {&symptom.title, &symptom.cause, &symptom.consequence}) {
    if (std::ranges::count(*prose, '`') % 2 != 0) fault("a backtick without its other half");
  }
  for (const std::string* prose : {&symptom.cause, &symptom.consequence}) {
    if (!prose->empty() && !prose->ends_with('.'))
      fault("a sentence without a full stop at its end");
  }
  for (const SeenText& seen : symptom.seen) {
    if (seen.source.find('#') == std::string::npos && !seen.source.starts_with("https://")) {
      faults.push_back({symptom.file, seen.line, "no owner/repository#number and no address"});
    }
  }
  // An answer shows the first ones only.
  if (!std::ranges::is_partitioned(symptom.sources, [](const Source& source) {
        return source.stated != Stated::kSymptom;
      })) {
    fault("sources that state something come before those that only show the text");
  }
}

void check_together(const SymptomTable& table, std::vector<Fault>& faults) {
  std::map<std::string_view, const Symptom*> of;  // by pattern
  for (const Symptom& symptom : table.all()) {
    const Symptom* first = table.find(symptom.id);
    if (first != &symptom) {
      faults.push_back({symptom.file, 0, fmt::format("the same id as {}", first->file)});
    }
    check_effects(table, symptom, faults);
    // Both would be said of the same line.
    for (const Text& text : symptom.texts) {
      if (text.part > 0) continue;
      const auto [at, added] = of.emplace(text.pattern, &symptom);
      if (!added) {
        faults.push_back(
            {symptom.file, text.line, fmt::format("a text of {}, too", at->second->file)});
      }
    }
  }
}

void check_seen(const TextIndex& texts, bool all, std::vector<Fault>& faults) {
  for (const Symptom& symptom : texts.symptoms().all()) {
    if (!all && symptom.site.empty()) continue;
    for (const SeenText& seen : symptom.seen) {
      Recogniser recogniser(texts);
      recogniser.feed(seen.text);
      const Explanation explanation = recogniser.finish();
      const std::string first =
          explanation.found.empty() ? "" : explanation.found.front().symptom->id;
      if (first == symptom.id) continue;
      faults.push_back({symptom.file, seen.line,
                        first.empty() ? "no pattern knows this text"
                                      : fmt::format("this text gives '{}'", first)});
    }
  }
}

}  // namespace gdr::explain
