#include "doctor/evidence.h"

namespace gdr::doctor {
namespace {

Evidence evidence(const host::Files& files, const std::string& path, std::string value) {
  if (value.empty()) value = files.exists(path) ? "empty, or not readable" : "not there";
  return {"/" + path, std::move(value)};
}

}  // namespace

Evidence read_line(const host::Files& files, const std::string& path) {
  return evidence(files, path, files.line(path));
}

Evidence read_link(const host::Files& files, const std::string& path) {
  return evidence(files, path, files.link_name(path));
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
