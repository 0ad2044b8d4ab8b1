#include "cli/nccl_run_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nccl/causes.h"

namespace gdr::cli {
namespace {

// A percent sign of the folder's own name is not NCCL's.
std::string pattern_in(const std::string& folder) {
  std::string pattern;
  for (const char c : folder) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  return pattern + "/%h.%p";
}

// What NCCL writes there comes out of the program itself.
bool is_own_output(const std::string& file) {
  return file == "/dev/stdout" || file == "/dev/stderr" || file.starts_with("/dev/fd/") ||
         file.starts_with("/proc/self/fd/");
}

}  // namespace

NcclPlan make_nccl_plan(const NcclPlanInputs& inputs) {
  NcclPlan plan;
  std::vector<std::string> set, kept;
  const auto set_if_unset = [&](const char* name, const std::string& value) {
    if (const auto there = inputs.environment(name)) {
      kept.push_back(fmt::format("{}={}", name, *there));
    } else {
      plan.variables.emplace_back(name, value);
      set.push_back(fmt::format("{}={}", name, value));
    }
  };
  set_if_unset("NCCL_DEBUG", nccl::kDebugLevel);
  set_if_unset("NCCL_DEBUG_SUBSYS", nccl::kDebugSubsystems);
  const auto file = inputs.environment("NCCL_DEBUG_FILE");
  if (file && !is_own_output(*file)) {
    plan.capture = NcclCapture::kFiles;
    plan.files = *file;
    kept.push_back("NCCL_DEBUG_FILE=" + *file);
  } else if (file || inputs.tee) {
    plan.capture = NcclCapture::kOutput;
    if (file) kept.push_back("NCCL_DEBUG_FILE=" + *file);
  } else {
    set_if_unset("NCCL_DEBUG_FILE", pattern_in(inputs.folder));
  }
  plan.summary = set.empty() ? "nothing set" : fmt::format("set {}", fmt::join(set, ", "));
  if (!kept.empty()) plan.summary += fmt::format("; kept your {}", fmt::join(kept, ", "));
  return plan;
}

std::string glob_of(const std::string& debug_file) {
  std::string pattern;
  for (std::size_t at = 0; at < debug_file.size(); ++at) {
    const char c = debug_file[at];
    const char next = at + 1 < debug_file.size() ? debug_file[at + 1] : '\0';
    if (c == '%' && (next == 'h' || next == 'p' || next == '%')) {
      pattern += next == '%' ? '%' : '*';
      ++at;
    } else {
      if (c == '*' || c == '?' || c == '[' || c == '\\') pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

}  // namespace gdr::cli
