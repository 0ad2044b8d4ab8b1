#include <fmt/format.h>

#include "doctor/blocks.h"
#include "doctor/ticket/ticket.h"
#include "text/markup.h"
#include "text/page.h"

namespace gdr::doctor {
namespace {

using text::escape_markup;
using text::escaped_lines;
using text::page_fact;
using text::page_head;

std::string facts(const Ticket& ticket) {
  std::string text = "<table class=\"facts\">\n" + page_fact("host", ticket.host_name);
  text += page_fact("captured", ticket.report.source);
  for (const TicketFact& each : ticket.facts) text += page_fact(each.name, each.value);
  return text + page_fact("gdrkit", ticket.version) + page_fact("made", ticket.made_at) +
         "</table>\n";
}

std::string evidence(const Finding& finding) {
  if (finding.evidence.empty()) return {};
  std::string text = "<details><summary>what was read</summary><pre>";
  for (const Evidence& one : finding.evidence) {
    text += escape_markup(one.source) + " = " + escape_markup(one.value) + "\n";
  }
  return text + "</pre></details>\n";
}

std::string headline(const Block& block) {
  return (block.subject.empty() ? "" : escape_markup(block.subject) + ": ") +
         escape_markup(block.line.finding->summary) +
         fmt::format(" <span class=\"quiet\">[{}]</span>", block.line.check->id);
}

std::string finding(const Block& block) {
  const Finding& found = *block.line.finding;
  const char* outcome = name_of(found.outcome);
  std::string text =
      fmt::format("<section class=\"finding {0}\"><p><b class=\"{0}\">{0}</b> {1}</p>\n", outcome,
                  headline(block));
  if (!found.consequence.empty()) text += "<p>" + escape_markup(found.consequence) + "</p>\n";
  for (const TicketStep& step : steps_of(found)) {
    text += fmt::format("<div class=\"step\"><p>{}{}</p>", escape_markup(step.when),
                        step.note.empty() ? "" : ": " + escape_markup(step.note));
    if (!step.command.empty()) text += "<pre>" + escaped_lines(step.command.text()) + "</pre>";
    text += "</div>\n";
  }
  return text + evidence(found) + "</section>\n";
}

std::string findings(const Report& report) {
  std::string wrong, well, others;
  for (const Block& block : blocks_of(report)) {
    if (block.line.finding->outcome == Outcome::kOk) {
      well += "<li>" + headline(block) + "</li>\n";
    } else {
      wrong += finding(block);
    }
  }
  for (const Judgement& judgement : report.judgements) {
    if (!judgement.left_out.empty()) {
      others += fmt::format("<li>{}: not run ({})</li>\n", judgement.check->id,
                            escape_markup(judgement.left_out));
    } else if (judgement.findings.empty()) {
      others += fmt::format("<li>{}: skipped ({})</li>\n", judgement.check->id,
                            escape_markup(judgement.findings.does_not_apply));
    }
  }
  for (const std::string& sentence : report.unseen) {
    others += "<li>not visible: " + escape_markup(sentence) + "</li>\n";
  }
  const auto folded = [](const char* title, const std::string& list) {
    if (list.empty()) return std::string();
    return fmt::format("<details><summary>{}</summary><ul>\n{}</ul></details>\n", title, list);
  };
  if (wrong.empty()) wrong = "<p>No problem found.</p>\n";
  return "<h2>Findings</h2>\n" + wrong + folded("Passed checks", well) +
         folded("Checks without a result", others);
}

}  // namespace

std::string to_html(const Ticket& ticket) {
  const std::string verdict = verdict_of(ticket.report);
  const Counts counts = count(ticket.report);
  const char* colour = counts.fail > 0 ? "fail" : counts.warn > 0 ? "warn" : "ok";
  const std::string host = ticket.host_name.empty() ? ticket.report.source : ticket.host_name;
  std::string page = page_head("gdr doctor: " + (host.empty() ? verdict : host + ": " + verdict));
  page += "<p class=\"quiet\">gdr doctor: GPUDirect RDMA on one host</p>\n";
  page += fmt::format("<h1 class=\"{}\">{}</h1>\n", colour, escape_markup(verdict));
  page += facts(ticket) + findings(ticket.report);
  if (!ticket.drawing.empty()) {
    page += "<h2>Topology</h2>\n<div class=\"drawing\">\n" + ticket.drawing + "</div>\n";
  }
  if (!ticket.devices.empty()) {
    page += "<h2>GPUs and ports</h2>\n<pre>" + escaped_lines(ticket.devices) + "</pre>\n";
  }
  return page + "</body>\n</html>\n";
}

}  // namespace gdr::doctor
