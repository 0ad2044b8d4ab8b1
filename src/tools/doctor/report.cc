#include "doctor/report.h"

#include <algorithm>

namespace gdr::doctor {
namespace {

int urgency(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFail:
      return 0;
    case Outcome::kWarn:
      return 1;
    case Outcome::kUnknown:
      return 2;
    case Outcome::kOk:
      break;
  }
  return 3;
}

void add(Counts& counts, Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      ++counts.ok;
      break;
    case Outcome::kWarn:
      ++counts.warn;
      break;
    case Outcome::kFail:
      ++counts.fail;
      break;
    case Outcome::kUnknown:
      ++counts.unknown;
  }
}

}  // namespace

Counts count(const Report& report) {
  Counts counts;
  for (const Judgement& judgement : report.judgements) {
    if (!judgement.left_out.empty()) {
      ++counts.left_out;
    } else if (judgement.findings.empty()) {
      ++counts.does_not_apply;
    }
    for (const Finding& finding : judgement.findings) add(counts, finding.outcome);
  }
  return counts;
}

std::vector<Line> in_order(const Report& report) {
  std::vector<Line> lines;
  for (const Judgement& judgement : report.judgements) {
    for (const Finding& finding : judgement.findings) lines.push_back({judgement.check, &finding});
  }
  // Stable: findings of one check stay as the check told them.
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    const int first = urgency(a.finding->outcome), second = urgency(b.finding->outcome);
    return first != second ? first < second : a.check->rank < b.check->rank;
  });
  return lines;
}

int exit_status(const Counts& counts) {
  if (counts.fail > 0) return 1;
  return counts.warn > 0 ? 3 : 0;
}

double seconds_of(const Report& report, Cost cost) {
  double seconds = 0;
  for (const Judgement& judgement : report.judgements) {
    if (judgement.check->cost == cost) seconds += judgement.seconds;
  }
  return seconds;
}

}  // namespace gdr::doctor
