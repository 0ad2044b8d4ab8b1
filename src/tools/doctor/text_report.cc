#include "doctor/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/environment.h"
#include "doctor/blocks.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::doctor {
namespace {

using text::Colour;

constexpr std::size_t kIndent = 9;  // after the outcome

std::string painted(const text::Style& style, Outcome outcome) {
  switch (outcome) {
    case Outcome::kFail:
      return text::paint(style, Colour::kRed, "FAIL") + "     ";
    case Outcome::kWarn:
      return text::paint(style, Colour::kYellow, "warn") + "     ";
    case Outcome::kUnknown:
      return text::paint(style, Colour::kBold, "unknown") + "  ";
    case Outcome::kOk:
      break;
  }
  return text::paint(style, Colour::kGreen, "ok") + "       ";
}

class Text {
 public:
  explicit Text(const text::Style& style) : style_(style) {}

  // Continuation lines are indented by `indent` spaces.
  void line(const std::string& text, std::size_t indent) {
    text_ += text::wrap(text, style_.columns, indent) + "\n";
  }
  void blank() { text_ += "\n"; }
  // Each command has a line of its own that is never wrapped, so that it can be pasted.
  void commands(const text::Command& command) {
    for (std::string_view one : split(command.text(), '\n')) {
      text_ += std::string(kIndent + 2, ' ') + std::string(one) + "\n";
    }
  }
  std::string take() { return std::move(text_); }

 private:
  const text::Style& style_;
  std::string text_;
};

// The summary comes first if the list of subjects is long.
std::string subject_and_summary(const Finding& finding, const std::string& subject) {
  constexpr std::size_t kShort = 48;
  std::string summary = printable(finding.summary);
  if (subject.empty()) return summary;
  if (subject.size() > kShort) return summary + ": " + printable(subject);
  return printable(subject) + ": " + summary;
}

void add_action(Text& text, const std::string& label, const Action& action) {
  if (action.empty()) return;
  const std::string margin(kIndent, ' ');
  text.line(margin + label + (action.note.empty() ? "" : " " + printable(action.note)),
            kIndent + 2);
  if (!action.command.empty()) text.commands(action.command);
  if (action.by_hand.empty()) return;
  text.line(margin + "or by hand:", kIndent);
  text.commands(action.by_hand);
}

void add_fix(Text& text, const Fix& fix, Outcome outcome) {
  // An unknown finding has nothing to repair, only something to find out.
  add_action(text, outcome == Outcome::kUnknown ? "to find out:" : "now:", fix.now);
  add_action(text, "for good:", fix.for_good);
}

void add_finding(Text& text, const text::Style& style, const Line& line,
                 const std::string& subject) {
  const Finding& finding = *line.finding;
  text.line(painted(style, finding.outcome) + subject_and_summary(finding, subject) + "  " +
                text::paint(style, Colour::kDim, fmt::format("[{}]", line.check->id)),
            kIndent);
  if (!finding.consequence.empty()) {
    text.line(std::string(kIndent, ' ') + printable(finding.consequence), kIndent);
  }
  add_fix(text, finding.fix, finding.outcome);
}

void add_findings(Text& text, const Report& report, const TextOptions& options) {
  for (const Block& block : blocks_of(report)) {
    if (!options.all && block.line.finding->outcome == Outcome::kOk) continue;
    add_finding(text, options.style, block.line, block.subject);
  }
}

bool applies_not(const Judgement& judgement) {
  return judgement.left_out.empty() && judgement.findings.empty();
}

struct Reason {
  std::string why;
  unsigned checks = 0;
};

// Why checks do not apply, most frequent reason first.
std::vector<Reason> reasons_of(const Report& report) {
  std::vector<Reason> reasons;
  for (const Judgement& judgement : report.judgements) {
    if (!applies_not(judgement)) continue;
    const std::string& why = judgement.findings.does_not_apply;
    auto known = std::ranges::find(reasons, why, &Reason::why);
    if (known == reasons.end()) known = reasons.insert(known, Reason{why});
    ++known->checks;
  }
  std::ranges::stable_sort(reasons, std::greater<>(), &Reason::checks);
  return reasons;
}

template <typename Belongs>
std::string list_of(const Report& report, Belongs belongs) {
  std::string list;
  for (const Judgement& judgement : report.judgements) {
    if (belongs(judgement)) list += (list.empty() ? "" : ", ") + std::string(judgement.check->id);
  }
  return list;
}

void add_left_out(Text& text, const Report& report, const TextOptions& options) {
  const Counts counts = count(report);
  if (counts.left_out > 0) {
    std::string reason;
    for (const Judgement& judgement : report.judgements) {
      if (!judgement.left_out.empty()) reason = judgement.left_out;
    }
    text.line(fmt::format("Not run ({}): {}", reason,
                          list_of(report, [](const Judgement& j) { return !j.left_out.empty(); })),
              2);
  }
  if (options.all) {
    for (const Reason& reason : reasons_of(report)) {
      const std::string& why = reason.why;
      text.line(fmt::format("Skipped ({}): {}", printable(why),
                            list_of(report,
                                    [&](const Judgement& j) {
                                      return applies_not(j) && j.findings.does_not_apply == why;
                                    })),
                2);
    }
  }
  if (options.all) {
    for (const std::string& unseen : report.unseen)
      text.line("Not visible: " + printable(unseen), 2);
  }
}

// "12 file checks (0.04 s), 5 live probes (3.1 s: registration 2.2 s, gpu-capability 0.9 s)"
std::string timing(const Report& report) {
  constexpr double kShown = 0.05;  // shorter times would print as 0.0
  unsigned passive = 0, probes = 0;
  std::string longest;
  for (const Judgement& judgement : report.judgements) {
    if (!judgement.left_out.empty()) continue;
    ++(judgement.check->cost == Cost::kPassive ? passive : probes);
    if (judgement.check->cost == Cost::kPassive || judgement.seconds < kShown) continue;
    longest += fmt::format("{}{} {:.1f} s", longest.empty() ? ": " : ", ", judgement.check->id,
                           judgement.seconds);
  }
  std::string text = fmt::format("{} ({:.2f} s)", text::plural(passive, "file check"),
                                 seconds_of(report, Cost::kPassive));
  if (probes == 0) return text;
  return text + fmt::format(", {} ({:.1f} s{})", text::plural(probes, "live probe"),
                            seconds_of(report, Cost::kProbe), longest);
}

// The reasons that several checks share; --all lists the others.
std::string short_list(const std::vector<Reason>& reasons) {
  constexpr std::size_t kFew = 2, kMost = 3;
  std::string text;
  std::size_t told = 0;
  for (const Reason& reason : reasons) {
    if (told == kMost || (reason.checks < 2 && reasons.size() > kFew)) break;
    text += (text.empty() ? "" : "; ") + printable(reason.why);
    ++told;
  }
  if (told == reasons.size()) return text;
  return text.empty() ? "--all says why" : text + "; more with --all";
}

}  // namespace

std::string summary(const Report& report) {
  const Counts counts = count(report);
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (counts.fail > 0) add(fmt::format("{} failed", counts.fail));
  if (counts.warn > 0) add(text::plural(counts.warn, "warning"));
  if (counts.unknown > 0) add(fmt::format("{} unknown", counts.unknown));
  add(fmt::format("{} ok", counts.ok));
  if (counts.does_not_apply > 0) {
    add(fmt::format("{} skipped ({})", counts.does_not_apply, short_list(reasons_of(report))));
  }
  return text;
}

std::string to_text(const Report& report, const TextOptions& options) {
  Text text(options.style);
  const Counts counts = count(report);
  // Otherwise the report starts with the finding to fix first.
  if (counts.fail + counts.warn == 0 && counts.unknown > 0 && counts.ok > 0) {
    text.line(text::paint(options.style, Colour::kBold, "No problem found.") +
                  " These checks could not tell:",
              2);
  }
  add_findings(text, report, options);
  if (counts.fail + counts.warn + counts.unknown > 0 || options.all) text.blank();
  const std::string source =
      report.source.empty() ? "" : "Captured machine " + printable(report.source) + ": ";
  text.line(text::paint(options.style, Colour::kBold, source + summary(report)), 2);
  for (const std::string& note : report.notes) text.line("note  " + printable(note), 6);
  text.line(timing(report), 2);
  add_left_out(text, report, options);
  return text.take();
}

std::string explain(const Judgement& judgement, const TextOptions& options) {
  const Check& check = *judgement.check;
  Text text(options.style);
  text.line(text::paint(options.style, Colour::kBold, fmt::format("{}: {}", check.id, check.title)),
            0);
  text.line(fmt::format("Area {}; {}", name_of(check.area),
                        check.cost == Cost::kPassive ? "reads files"
                                                     : "live probe: asks drivers or programs"),
            0);
  text.blank();
  text.line(check.explanation, 0);
  text.blank();
  if (!judgement.left_out.empty()) {
    text.line("On this host: not run (" + judgement.left_out + ")", 0);
  } else if (judgement.findings.empty()) {
    text.line("On this host: skipped, " + printable(judgement.findings.does_not_apply), 0);
  }
  for (const Finding& finding : judgement.findings) {
    add_finding(text, options.style, {&check, &finding}, finding.subject);
    for (const Evidence& evidence : finding.evidence) {
      text.line(std::string(kIndent, ' ') + "read: " + printable(evidence.source) + " = " +
                    printable(evidence.value),
                kIndent + 6);
    }
  }
  return text.take();
}

std::string to_text(const ContainerView& view, const TextOptions& options) {
  constexpr std::size_t kNames = 23;
  Text text(options.style);
  text.line(text::paint(options.style, Colour::kBold, "Given to this process"), 0);
  for (const auto& [name, value] : view.facts) {
    text.line("  " + text::pad(name, kNames) + printable(value), kNames + 2);
  }
  text.blank();
  text.line(text::paint(options.style, Colour::kBold, "Options that give a container everything"),
            0);
  for (const auto& [name, value] : view.start_with) {
    text.line("  " + text::pad(name, kNames) + value, kNames + 2);
  }
  text.blank();
  return text.take();
}

}  // namespace gdr::doctor
