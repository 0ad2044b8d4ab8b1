#include "text/markdown.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "doctor/blocks.h"
#include "doctor/ticket/ticket.h"

namespace gdr::doctor {
namespace {

using text::escape_markdown;
using text::fenced_markdown;
using text::folded_markdown;

std::string finding_text(const Block& block) {
  const Finding& finding = *block.line.finding;
  std::string word = name_of(finding.outcome);
  if (finding.outcome == Outcome::kFail) word = "FAIL";
  std::string text = fmt::format("**{}** ", word);
  if (!block.subject.empty()) text += escape_markdown(block.subject) + ": ";
  text += escape_markdown(finding.summary) + fmt::format(" ({})\n", block.line.check->id);
  if (!finding.consequence.empty()) text += "\n" + escape_markdown(finding.consequence) + "\n";
  for (const TicketStep& step : steps_of(finding)) {
    text +=
        "\n" + step.when + ":" + (step.note.empty() ? "" : " " + escape_markdown(step.note)) + "\n";
    if (!step.command.empty()) text += fenced_markdown("sh", step.command.text());
  }
  return text + "\n";
}

std::string evidence_text(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) {
    if (line.finding->outcome == Outcome::kOk) continue;
    for (const Evidence& one : line.finding->evidence) {
      text +=
          fmt::format("{}: {} = {}\n", line.check->id, printable(one.source), printable(one.value));
    }
  }
  return text;
}

}  // namespace

std::string to_markdown(const Ticket& ticket) {
  std::string text = "### gdr doctor: " + escape_markdown(verdict_of(ticket.report)) + "\n\n";
  text += "| | |\n|---|---|\n";
  for (const TicketFact& fact : ticket.facts) {
    text += fmt::format("| {} | {} |\n", fact.name, escape_markdown(fact.value));
  }
  if (!ticket.report.source.empty()) {
    text += fmt::format("| captured | {} |\n", escape_markdown(ticket.report.source));
  }
  text += fmt::format("| gdrkit | {}, {} |\n\n", escape_markdown(ticket.version),
                      escape_markdown(ticket.made_at));
  std::string well;
  for (const Block& block : blocks_of(ticket.report)) {
    const Finding& finding = *block.line.finding;
    if (finding.outcome != Outcome::kOk) {
      text += finding_text(block);
    } else {
      well += fmt::format("- {}: {}{}\n", block.line.check->id,
                          block.subject.empty() ? "" : escape_markdown(block.subject) + ": ",
                          escape_markdown(finding.summary));
    }
  }
  if (!ticket.topology.empty())
    text += folded_markdown("Topology", fenced_markdown("", ticket.topology));
  const std::string evidence = evidence_text(in_order(ticket.report));
  if (!evidence.empty()) text += folded_markdown("What was read", fenced_markdown("", evidence));
  if (!well.empty()) text += folded_markdown("Passed checks", well);
  return text;
}

}  // namespace gdr::doctor
