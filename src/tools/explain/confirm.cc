#include "explain/confirm.h"

#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/run.h"

namespace gdr::explain {
namespace {

// The worst finding tells most: a host with one bad port of eight has a bad port.
unsigned badness(const doctor::Finding& finding) {
  constexpr unsigned kByOutcome[] = {0, 2, 3, 1};  // ok, warn, fail, unknown
  return kByOutcome[static_cast<std::size_t>(finding.outcome)];
}

Confirmation confirmation_of(const doctor::Judgement& judgement) {
  Confirmation answer{judgement.check->id, "", ""};
  if (!judgement.left_out.empty()) {
    answer.outcome = "not run";
    answer.summary = fmt::format("gdr doctor --only {}", judgement.check->id);
    return answer;
  }
  const auto worst =
      std::max_element(judgement.findings.begin(), judgement.findings.end(),
                       [](const auto& a, const auto& b) { return badness(a) < badness(b); });
  if (worst == judgement.findings.end()) return answer;  // it does not apply here
  answer.outcome = doctor::name_of(worst->outcome);
  answer.summary = worst->subject.empty() ? worst->summary
                                          : fmt::format("{}: {}", worst->subject, worst->summary);
  const auto like_it = std::count_if(
      judgement.findings.begin(), judgement.findings.end(),
      [&](const doctor::Finding& finding) { return finding.outcome == worst->outcome; });
  if (like_it > 1) answer.summary += fmt::format(" (and {} more)", like_it - 1);
  return answer;
}

}  // namespace

Confirmations confirm(const Explanation& explanation, const doctor::Host& host) {
  doctor::Selection selection;
  selection.probes = false;
  for (const Recognition& found : explanation.found) {
    if (found.because_of != nullptr) continue;
    for (const std::string& id : found.symptom->checks) {
      const doctor::Check* check = doctor::find_check(id);
      auto& checks = selection.checks;
      if (check == nullptr || std::find(checks.begin(), checks.end(), check) != checks.end()) {
        continue;
      }
      checks.push_back(check);
    }
  }
  Confirmations confirmations;
  if (selection.checks.empty()) return confirmations;  // no list would mean all checks
  const doctor::Report report = doctor::examine(host, selection);
  for (const Recognition& found : explanation.found) {
    if (found.because_of != nullptr) continue;
    for (const std::string& id : found.symptom->checks) {
      for (const doctor::Judgement& judgement : report.judgements) {
        if (id != judgement.check->id) continue;
        confirmations[found.symptom].push_back(confirmation_of(judgement));
      }
    }
  }
  return confirmations;
}

}  // namespace gdr::explain
