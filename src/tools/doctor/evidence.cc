#include "doctor/evidence.h"

#include <utility>

namespace gdr::doctor {
namespace {

Evidence evidence(const host::Files& files, const std::string& path, std::string value) {
  if (value.empty()) value = files.exists(path) ? "empty or unreadable" : "not there";
  return {"/" + path, std::move(value)};
}

}  // namespace

Finding ok(std::string subject, std::string summary, Evidences evidence) {
  return {Outcome::kOk, std::move(subject), std::move(summary), std::move(evidence), {}, {}};
}

Finding unknown(std::string subject, std::string summary, Evidences evidence,
                Action what_it_takes) {
  return {Outcome::kUnknown,
          std::move(subject),
          std::move(summary),
          std::move(evidence),
          {},
          {std::move(what_it_takes), {}}};
}

Finding warn(std::string subject, std::string summary, Evidences evidence, std::string consequence,
             Fix fix) {
  return {Outcome::kWarn,      std::move(subject),     std::move(summary),
          std::move(evidence), std::move(consequence), std::move(fix)};
}

Finding fail(std::string subject, std::string summary, Evidences evidence, std::string consequence,
             Fix fix) {
  return {Outcome::kFail,      std::move(subject),     std::move(summary),
          std::move(evidence), std::move(consequence), std::move(fix)};
}

Evidence read_line(const host::Files& files, const std::string& path) {
  return evidence(files, path, files.line(path));
}

Finding not_shown(const host::Files& files, const std::string& folder, const std::string& what) {
  Finding finding;
  finding.outcome = Outcome::kUnknown;
  finding.summary = what + (files.is_live() ? ": /" + folder + " is not mounted here"
                                            : ": the capture has no /" + folder);
  finding.evidence = {{"/" + folder, "not there"}};
  return finding;
}

}  // namespace gdr::doctor
