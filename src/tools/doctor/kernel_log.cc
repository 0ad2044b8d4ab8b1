#include "doctor/kernel_log.h"

#include <sys/klog.h>

#include "base/environment.h"

namespace gdr::doctor {
namespace {

constexpr int kReadAll = 3;  // SYSLOG_ACTION_READ_ALL: leaves what it reads where it is
constexpr std::size_t kMost = 1 << 20;
constexpr std::size_t kMostErrors = 20;

}  // namespace

std::optional<std::string> read_kernel_log(const host::Files& files) {
  if (!files.is_live()) {
    if (!files.exists(kCapturedKernelLog)) return std::nullopt;
    std::string text;
    for (const std::string& line : files.lines_with(kCapturedKernelLog, "")) text += line + "\n";
    return text;
  }
  std::string text(kMost, '\0');
  const int got = klogctl(kReadAll, text.data(), static_cast<int>(text.size()));
  if (got < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  return text;
}

std::vector<std::string> log_lines(const Host& host, const std::string& word) {
  std::vector<std::string> found;
  if (!host.kernel_log) return found;
  for (std::string_view line : split(*host.kernel_log, '\n')) {
    if (line.find(word) == std::string_view::npos) continue;
    if (found.size() == kMostErrors) found.erase(found.begin());
    found.emplace_back(line);
  }
  return found;
}

}  // namespace gdr::doctor
