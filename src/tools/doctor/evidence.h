// Findings and what they rest on: what was read, as it is shown, and whether a captured machine can
// answer at all.
//
//   return {ok("", "loaded", {read_line(host.files, "sys/module/nvidia_peermem/version")})};
//   // evidence: {"/sys/module/nvidia_peermem/version", "580.95.05"}, or "not there"
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"
#include "host/files.h"

namespace gdr::doctor {

using Evidences = std::vector<Evidence>;

Finding ok(std::string subject, std::string summary, Evidences evidence = {});
Finding unknown(std::string subject, std::string summary, Evidences evidence = {},
                Action what_it_takes = {});
Finding warn(std::string subject, std::string summary, Evidences evidence, std::string consequence,
             Fix fix);
Finding fail(std::string subject, std::string summary, Evidences evidence, std::string consequence,
             Fix fix);

// The first line of a file.
Evidence read_line(const host::Files& files, const std::string& path);

// A file that is absent from a capture that has nothing of its folder says nothing about the
// machine. `folder`: one that every Linux host has, as "sys/module".
inline bool shows(const host::Files& files, const std::string& folder) {
  return files.exists(folder);
}

// What most checks need.
inline Findings no_gpu() { return does_not_apply("no NVIDIA GPU"); }
inline Findings no_nic() { return does_not_apply("no RDMA NIC"); }

// For what only `folder` could have told.
Finding not_shown(const host::Files& files, const std::string& folder, const std::string& what);

}  // namespace gdr::doctor
