#include "peermem/status.h"

#include <algorithm>

namespace gdr::peermem {

const char* name_of(Verdict verdict) {
  constexpr const char* kNames[] = {"no-driver", "useless", "loaded", "fits", "build", "unknown"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const Candidate* fitting(const Survey& survey) {
  const auto found = std::ranges::find_if(survey.candidates, [](const Candidate& one) {
    return one.found.problem.empty() && one.refusals.empty();
  });
  return found == survey.candidates.end() ? nullptr : &*found;
}

Verdict verdict_of(const Survey& survey) {
  if (survey.runs && !survey.plan.loaded.empty()) return Verdict::kLoaded;
  if (survey.has_interface == host::Tri::kNo) return Verdict::kUseless;
  if (survey.drivers.empty()) {
    return survey.plan.read.driver_loaded ? Verdict::kUnknown : Verdict::kNoDriver;
  }
  if (survey.driver() == nullptr || survey.has_interface == host::Tri::kUnknown) {
    return Verdict::kUnknown;
  }
  return fitting(survey) != nullptr ? Verdict::kFits : Verdict::kBuild;
}

int exit_status(const Survey& survey) {
  const Verdict verdict = verdict_of(survey);
  if (verdict == Verdict::kLoaded || verdict == Verdict::kFits) return 0;
  return survey.plan.needed == host::Tri::kNo ? 0 : 1;
}

}  // namespace gdr::peermem
