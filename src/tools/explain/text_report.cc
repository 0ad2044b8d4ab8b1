#include "explain/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "explain/pattern.h"
#include "text/format.h"

namespace gdr::explain {
namespace {

std::string field(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return fmt::format("  {:<{}}{}\n", name, kTextIndent - 2, value);
}

// Prose has commands in backticks.
std::string prose(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '`');
  return plain;
}

std::string seen_text(const Recognition& found) {
  std::string text;
  std::size_t shown = 0;
  for (const Seen& seen : found.seen) {
    if (shown++ == kMostSeen) break;
    text += field(shown == 1 ? "seen" : "", fmt::format("line {}: {}", seen.line, seen.text));
  }
  const std::uint64_t more = found.times - std::min<std::uint64_t>(found.times, shown);
  if (more > 0) text += field("", "and " + text::plural(more, "more such line"));
  return text;
}

// Those that state something come first; an answer shows the first two.
constexpr std::size_t kSourcesShown = 2;

std::string source_text(const Symptom& symptom, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, symptom.sources.size()); ++i) {
    const Source& source = symptom.sources[i];
    text +=
        field(i == 0 ? "source" : "", fmt::format("{}  ({})", source.url, name_of(source.stated)));
  }
  return text;
}

std::string id_text(const Symptom& symptom) {
  const char* topic = symptom.program == Program::kOther ? "; this is not GPUDirect RDMA" : "";
  return field("symptom",
               fmt::format("{}  ({}){}", symptom.id, name_of(symptom.certainty), topic)) +
         field("from", printable(symptom.site));
}

// Each command in a line of its own, that it can be pasted as it is.
std::string steps_text(const char* name, const std::vector<Step>& fix) {
  std::string text, words;
  const auto flush = [&] {
    text += field(text.empty() ? name : "", prose(std::exchange(words, "")));
  };
  for (const Step& step : fix) {
    if (!step.is_command) {
      words += fmt::format("{}{}", words.empty() ? "" : "; ", step.text);
      continue;
    }
    flush();
    if (text.empty()) text = fmt::format("  {}\n", name);
    text += fmt::format("{:{}}{}\n", "", kCommandIndent, step.text);
  }
  flush();
  return text;
}

std::string fix_text(const Symptom& symptom) {
  return steps_text("fix now", symptom.fix_now) + steps_text("for good", symptom.fix_for_good);
}

std::string outcome_text(const std::string& outcome, const text::Style& style) {
  const std::string padded = text::pad(outcome, 7);
  if (outcome == "fail") return text::paint(style, text::Colour::kRed, padded);
  if (outcome == "warn") return text::paint(style, text::Colour::kYellow, padded);
  return outcome == "ok" ? text::paint(style, text::Colour::kGreen, padded) : padded;
}

// A line for each check that says something, and one for all those that do not apply.
std::string confirmation_text(const std::vector<Confirmation>& confirmations,
                              const text::Style& style) {
  std::string text, others;
  for (const Confirmation& each : confirmations) {
    if (each.outcome.empty()) {
      others += (others.empty() ? "" : ", ") + each.check;
      continue;
    }
    text += field(text.empty() ? "here" : "",
                  fmt::format("{}  {}: {}", outcome_text(each.outcome, style), each.check,
                              printable(each.summary)));
  }
  if (others.empty()) return text;
  return text + field(text.empty() ? "here" : "", "not applicable: " + others);
}

std::string check_text(const Symptom& symptom) {
  if (symptom.checks.empty()) return {};
  return field("confirm", fmt::format("gdr doctor --explain {}", symptom.checks.front()));
}

std::string consequences_text(const Explanation& explanation, const Symptom& cause) {
  std::string text;
  for (const Recognition& effect : explanation.found) {
    if (effect.because_of != &cause) continue;
    text += field(text.empty() ? "also seen" : "",
                  fmt::format("{}  (line {}; follows from this)", effect.symptom->title,
                              effect.seen.front().line));
  }
  return text;
}

}  // namespace

std::string to_text(const Explanation& explanation, const std::string& name,
                    const Confirmations& confirmations, const std::string& host,
                    const text::Style& style) {
  std::string text;
  unsigned number = 0;
  for (const Recognition& found : explanation.found) {
    if (found.because_of != nullptr) continue;
    const Symptom& symptom = *found.symptom;
    text += fmt::format("{}{}  {}\n", number == 0 ? "" : "\n", number + 1,
                        text::paint(style, text::Colour::kBold, symptom.title));
    ++number;
    text += id_text(symptom) + seen_text(found) + field("cause", prose(symptom.cause));
    text += field("leads to", prose(symptom.consequence));
    const auto confirmation = confirmations.find(&symptom);
    text += confirmation != confirmations.end() ? confirmation_text(confirmation->second, style)
                                                : check_text(symptom);
    text += fix_text(symptom) + source_text(symptom, kSourcesShown) +
            consequences_text(explanation, symptom);
  }
  std::string head = fmt::format("{}: {} in {}", printable(name), text::plural(number, "symptom"),
                                 text::plural(explanation.lines, "line"));
  if (!confirmations.empty()) {
    head += fmt::format("; 'here' shows what gdr doctor found on {}", printable(host));
  }
  return head + "\n\n" + text;
}

std::string to_page(const Symptom& symptom) {
  std::string text = fmt::format("{}\n", symptom.title) + id_text(symptom);
  text += field("printed by", name_of(symptom.program));
  bool first = true;
  for (const Text& each : symptom.texts) {
    std::string shown = Pattern(each.pattern).shown();
    // Parts 1 and 2 are a pair, 3 and 4 the next.
    if (each.part > 0) {
      shown += fmt::format("  ({} half of pair {})", each.part % 2 == 1 ? "one" : "other",
                           (each.part + 1) / 2);
    }
    text += field(first ? "text" : "", shown);
    first = false;
  }
  text += field("cause", prose(symptom.cause)) + field("leads to", prose(symptom.consequence));
  text += check_text(symptom) + fix_text(symptom) + source_text(symptom, symptom.sources.size());
  std::string effects;
  for (const std::string& effect : symptom.explains) {
    effects += (effects.empty() ? "" : ", ") + effect;
  }
  return text + field("explains", effects);
}

std::string to_nearest(std::string_view heading, const std::vector<const Symptom*>& nearest) {
  if (nearest.empty()) return {};
  std::string text = fmt::format("{}; 'gdr explain --symptom ID' shows one:\n", heading);
  std::size_t longest = 0;
  for (const Symptom* symptom : nearest) longest = std::max(longest, symptom->id.size());
  for (const Symptom* symptom : nearest) {
    text += fmt::format("  {:<{}}  {}\n", symptom->id, longest, symptom->title);
  }
  return text;
}

std::string to_list(const SymptomTable& table) {
  std::size_t longest = 0;
  for (const Symptom& symptom : table.all()) longest = std::max(longest, symptom.id.size());
  std::string text;
  const Symptom* before = nullptr;
  for (const Symptom& symptom : table.all()) {
    if (before == nullptr || before->program != symptom.program) {
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", name_of(symptom.program));
    }
    before = &symptom;
    text += fmt::format("  {:<{}}  {}\n", symptom.id, longest, symptom.title);
  }
  return text;
}

}  // namespace gdr::explain
