// The kernel log: this machine's ring buffer, or a captured machine's file.
//
//   host.kernel_log = read_kernel_log(host.files);
//   for (const std::string& line : log_lines(host, "NVRM:")) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/host.h"

namespace gdr::doctor {

// The file in a capture.
constexpr const char* kCapturedKernelLog = "var/log/dmesg";

// Nothing: not permitted (kernel.dmesg_restrict), or not captured. 1 MiB at most, the latest.
std::optional<std::string> read_kernel_log(const host::Files& files);

// The lines that have `word` in them, the latest 20.
std::vector<std::string> log_lines(const Host& host, const std::string& word);

}  // namespace gdr::doctor
