// Report: what every check has found, as data, and what it comes to. Text, JSON and metrics are
// written from it.
//
//   Report report = examine(host, {});
//   for (const Line& line : in_order(report)) puts(line.finding->summary.c_str());
//   return exit_status(report);
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"

namespace gdr::doctor {

// One check, carried out or left out.
struct Judgement {
  const Check* check = nullptr;
  Findings findings;     // none: it does not apply to this host, and they say why
  double seconds = 0;    // what it took
  std::string left_out;  // why it was not carried out; empty: it was
};

struct Report {
  std::vector<Judgement> judgements;  // by rank
  std::string source;                 // the captured machine that was judged; empty: this one
  std::vector<std::string> unseen;    // what the source does not show, as its inventory says
  std::vector<std::string> notes;     // what was passed over in it
};

struct Counts {
  unsigned ok = 0, warn = 0, fail = 0, unknown = 0;
  unsigned does_not_apply = 0, left_out = 0;  // checks
};
Counts count(const Report& report);

// A finding in its place: what to do first comes first.
struct Line {
  const Check* check = nullptr;
  const Finding* finding = nullptr;
};
// Failures, warnings, what is unknown, what is well; each by rank.
std::vector<Line> in_order(const Report& report);

// 1 where something fails, 3 where there are warnings only, 0 otherwise. What is unknown is counted
// and shown; it is not held against the host.
int exit_status(const Counts& counts);
inline int exit_status(const Report& report) { return exit_status(count(report)); }

// Time of the executed checks of one cost.
double seconds_of(const Report& report, Cost cost);

}  // namespace gdr::doctor
