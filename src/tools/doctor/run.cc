#include "doctor/run.h"

#include <algorithm>

#include "base/clock.h"
#include "doctor/checks/all.h"

namespace gdr::doctor {
namespace {

std::string why_left_out(const Host& host, const Selection& selection, const Check& check) {
  if (check.cost == Cost::kPassive) return {};
  if (!host.is_live()) return "a captured machine cannot be probed";
  if (!selection.probes) return "--no-probe";
  return host.probes ? "" : "no probes available";
}

}  // namespace

Report examine(const Host& host, const Selection& selection,
               const std::function<void(const Check&)>& on_check) {
  Report report;
  if (!host.is_live()) report.source = host.files.root();
  report.unseen = host.inventory.unseen;
  report.notes = host.inventory.notes;
  std::vector<const Check*> checks = selection.checks.empty() ? all_checks() : selection.checks;
  std::stable_sort(checks.begin(), checks.end(),
                   [](const Check* a, const Check* b) { return a->rank < b->rank; });
  for (const Check* check : checks) report.judgements.push_back({check, {}, 0, {}});
  for (const Cost cost : {Cost::kPassive, Cost::kProbe}) {
    for (Judgement& judgement : report.judgements) {
      const Check& check = *judgement.check;
      if (check.cost != cost) continue;
      judgement.left_out = why_left_out(host, selection, check);
      if (!judgement.left_out.empty()) continue;
      if (on_check) on_check(check);
      const Nanoseconds start = now();
      judgement.findings = check.find(host);
      if (!judgement.findings.empty()) judgement.findings.does_not_apply.clear();
      judgement.seconds = static_cast<double>(now() - start) / 1e9;
    }
  }
  return report;
}

}  // namespace gdr::doctor
