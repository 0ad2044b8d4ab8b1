#include "doctor/text_report.h"

#include <fmt/format.h>

#include "base/environment.h"
#include "doctor/checks/gather.h"
#include "tool/text.h"
#include "tool/wrap.h"

namespace gdr::doctor {
namespace {

using tool::Colour;
using tool::printable;

constexpr std::size_t kIndent = 9;  // behind the outcome

std::string painted(const tool::Style& style, Outcome outcome) {
  switch (outcome) {
    case Outcome::kFail:
      return tool::paint(style, Colour::kRed, "FAIL") + "     ";
    case Outcome::kWarn:
      return tool::paint(style, Colour::kYellow, "warn") + "     ";
    case Outcome::kUnknown:
      return tool::paint(style, Colour::kBold, "unknown") + "  ";
    case Outcome::kOk:
      break;
  }
  return tool::paint(style, Colour::kGreen, "ok") + "       ";
}

class Text {
 public:
  explicit Text(const tool::Style& style) : style_(style) {}

  // Continuation lines of it stand `indent` spaces further in than nothing.
  void line(const std::string& text, std::size_t indent) {
    text_ += tool::wrap(text, style_.columns, indent) + "\n";
  }
  void blank() { text_ += "\n"; }
  // Each line of `value` behind spaces, the first behind `label`.
  void labelled(const std::string& label, const std::string& value, std::size_t indent) {
    std::string head = label;
    for (std::string_view one : split(value, '\n')) {
      line(std::string(kIndent, ' ') + tool::pad(head, indent - kIndent) + printable(one), indent);
      head.clear();
    }
  }
  std::string take() { return std::move(text_); }

 private:
  const tool::Style& style_;
  std::string text_;
};

std::string subject_and_summary(const Finding& finding, const std::string& subject) {
  return subject.empty() ? printable(finding.summary)
                         : printable(subject) + ": " + printable(finding.summary);
}

void add_fix(Text& text, const Fix& fix, Outcome outcome) {
  constexpr std::size_t kFixIndent = kIndent + 10;
  // What would make an unknown thing known is no repair.
  const char* label = outcome == Outcome::kUnknown ? "to know:" : "now:";
  if (!fix.now.empty()) text.labelled(label, fix.now, kFixIndent);
  if (!fix.for_good.empty()) text.labelled("for good:", fix.for_good, kFixIndent);
}

void add_finding(Text& text, const tool::Style& style, const Line& line,
                 const std::string& subject) {
  const Finding& finding = *line.finding;
  text.line(painted(style, finding.outcome) + subject_and_summary(finding, subject) + "  " +
                tool::paint(style, Colour::kDim, fmt::format("[{}]", line.check->id)),
            kIndent);
  if (!finding.consequence.empty()) {
    text.line(std::string(kIndent, ' ') + printable(finding.consequence), kIndent);
  }
  add_fix(text, finding.fix, finding.outcome);
}

// Eight GPUs of which a check says the same are one block.
struct Block {
  Line line;
  std::vector<std::string> subjects;
};

// Checks that gather their findings have one for each block already; those that judge each GPU keep
// one for each GPU, for the JSON document and the metrics.
std::vector<Block> blocks_of(const std::vector<Line>& lines) {
  constexpr std::size_t kLookBack = 128;  // a capture may claim any number that are all different
  std::vector<Block> blocks;
  for (const Line& line : lines) {
    Block* known = nullptr;
    const std::size_t end = blocks.size() > kLookBack ? blocks.size() - kLookBack : 0;
    for (std::size_t i = blocks.size(); i > end && known == nullptr; --i) {
      Block& block = blocks[i - 1];
      if (block.line.check != line.check) break;  // findings of one check follow each other
      if (!line.finding->subject.empty() && alike(*block.line.finding, *line.finding)) {
        known = &block;
      }
    }
    if (known == nullptr) known = &blocks.emplace_back(Block{line, {}});
    known->subjects.push_back(line.finding->subject);
  }
  return blocks;
}

// "GPU 0000:19:00.0": "GPUs"
std::string nouns_of(const std::string& subject) {
  return subject.substr(0, subject.find(' ')) + "s";
}

void add_findings(Text& text, const Report& report, const TextOptions& options) {
  for (const Block& block : blocks_of(in_order(report))) {
    const Outcome outcome = block.line.finding->outcome;
    if (!options.all && outcome == Outcome::kOk) continue;
    add_finding(text, options.style, block.line,
                subject_of(block.subjects, nouns_of(block.subjects.front()), outcome));
  }
}

std::string list_of(const Report& report, bool (*belongs)(const Judgement&)) {
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
    text.line(fmt::format("Left out ({}): {}", reason,
                          list_of(report, [](const Judgement& j) { return !j.left_out.empty(); })),
              2);
  }
  if (options.all && counts.does_not_apply > 0) {
    text.line("Does not apply: " + list_of(report,
                                           [](const Judgement& j) {
                                             return j.left_out.empty() && j.findings.empty();
                                           }),
              2);
  }
  if (options.all) {
    for (const std::string& unseen : report.unseen) text.line("Not shown: " + printable(unseen), 2);
  }
}

// "12 checks read files in 0.04 s; 5 probes took 3.1 s: registration 2.2 s, gpu-capability 0.9 s"
std::string timing(const Report& report) {
  constexpr double kShown = 0.05;  // what takes less shows as 0.0
  unsigned passive = 0, probes = 0;
  std::string longest;
  for (const Judgement& judgement : report.judgements) {
    if (!judgement.left_out.empty()) continue;
    ++(judgement.check->cost == Cost::kPassive ? passive : probes);
    if (judgement.check->cost == Cost::kPassive || judgement.seconds < kShown) continue;
    longest += fmt::format("{}{} {:.1f} s", longest.empty() ? ": " : ", ", judgement.check->id,
                           judgement.seconds);
  }
  std::string text = fmt::format("{} read files in {:.2f} s", tool::plural(passive, "check"),
                                 seconds_of(report, Cost::kPassive));
  if (probes == 0) return text;
  return text + fmt::format("; {} took {:.1f} s{}", tool::plural(probes, "probe"),
                            seconds_of(report, Cost::kProbe), longest);
}

}  // namespace

std::string summary(const Report& report) {
  const Counts counts = count(report);
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (counts.fail > 0) add(fmt::format("{} failed", counts.fail));
  if (counts.warn > 0) add(tool::plural(counts.warn, "warning"));
  if (counts.unknown > 0) add(fmt::format("{} unknown", counts.unknown));
  add(fmt::format("{} ok", counts.ok));
  if (counts.does_not_apply > 0) {
    add(tool::plural(counts.does_not_apply, "check") +
        (counts.does_not_apply == 1 ? " does not apply" : " do not apply"));
  }
  return text;
}

std::string to_text(const Report& report, const TextOptions& options) {
  Text text(options.style);
  add_findings(text, report, options);
  const Counts counts = count(report);
  if (counts.fail + counts.warn + counts.unknown > 0 || options.all) text.blank();
  const std::string source =
      report.source.empty() ? "" : "Captured machine " + printable(report.source) + ": ";
  text.line(tool::paint(options.style, Colour::kBold, source + summary(report)), 2);
  for (const std::string& note : report.notes) text.line("note  " + printable(note), 6);
  text.line(timing(report), 2);
  add_left_out(text, report, options);
  return text.take();
}

std::string explain(const Judgement& judgement, const TextOptions& options) {
  const Check& check = *judgement.check;
  Text text(options.style);
  text.line(tool::paint(options.style, Colour::kBold, fmt::format("{}: {}", check.id, check.title)),
            0);
  text.line(fmt::format(
                "Area {}; {}", name_of(check.area),
                check.cost == Cost::kPassive ? "reads files" : "a probe: asks drivers or programs"),
            0);
  text.blank();
  text.line(check.explanation, 0);
  text.blank();
  if (!judgement.left_out.empty()) {
    text.line("Here: not carried out (" + judgement.left_out + ")", 0);
  } else if (judgement.findings.empty()) {
    text.line("Here: does not apply", 0);
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
  text.line(tool::paint(options.style, Colour::kBold, "What this process was given"), 0);
  for (const auto& [name, value] : view.facts) {
    text.line("  " + tool::pad(name, kNames) + printable(value), kNames + 2);
  }
  text.blank();
  text.line(tool::paint(options.style, Colour::kBold, "What gives a container all of it"), 0);
  for (const auto& [name, value] : view.start_with) {
    text.line("  " + tool::pad(name, kNames) + value, kNames + 2);
  }
  text.blank();
  return text.take();
}

}  // namespace gdr::doctor
