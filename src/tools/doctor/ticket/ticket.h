// Ticket: a host and what was found on it, for somebody who has neither the host nor gdrkit: as one
// page, and as Markdown to paste into an issue.
//
//   Ticket ticket{report, facts_of(host), "2.1.0", "2026-11-23 04:05 UTC", {}, drawing, text,
//   list}; write(to_html(ticket));
#pragma once

#include <string>
#include <vector>

#include "doctor/host.h"
#include "doctor/report.h"
#include "text/command.h"

namespace gdr::doctor {

struct TicketFact {
  std::string name, value;
};

struct Ticket {
  const Report& report;
  std::vector<TicketFact> facts;
  std::string version, made_at;
  // The page alone says it: Markdown is for public places.
  std::string host_name;
  std::string drawing;   // of the topology: an SVG element, as it is
  std::string topology;  // the same as text, for public places too
  std::string devices;   // GPUs and ports, a line each; the page's alone, for the addresses in it
};

// What a reader wants to know first about a host: model, kernel, drivers, cards, variables. Omits
// values of variables that are not known to be harmless.
std::vector<TicketFact> facts_of(const Host& host);

// "FAILED: 2 failed, 1 warning, 20 ok"
std::string verdict_of(const Report& report);

// What to do, each with when: "now", "for good", "to find out", "or by hand"; a note, lines to
// type, or both.
struct TicketStep {
  std::string when, note;
  text::Command command;
};
std::vector<TicketStep> steps_of(const Finding& finding);

std::string to_html(const Ticket& ticket);
std::string to_markdown(const Ticket& ticket);

}  // namespace gdr::doctor
