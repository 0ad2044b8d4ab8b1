#include "cli/nccl_run_plan.h"

#include "nccl/causes.h"

namespace gdr::cli {
namespace {

// A percent sign of the folder's own name is not NCCL's.
std::string pattern_in(const std::string& folder) {
  std::string pattern;
  for (const char c : folder) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  return pattern + "/%h.%p";
}

// Files that are the program's own output.
bool is_own_output(const std::string& file) {
  return file == "/dev/stdout" || file == "/dev/stderr" || file.starts_with("/dev/fd/") ||
         file.starts_with("/proc/self/fd/");
}

}  // namespace

NcclPlan make_nccl_plan(const NcclPlanInputs& inputs) {
  NcclPlan plan;
  GivenVariables variables(inputs.environment);
  variables.set_if_unset("NCCL_DEBUG", nccl::kDebugLevel);
  variables.set_if_unset("NCCL_DEBUG_SUBSYS", nccl::kDebugSubsystems);
  if (variables.keeps("NCCL_DEBUG_FILE")) {
    plan.files = *inputs.environment("NCCL_DEBUG_FILE");
    plan.capture = is_own_output(plan.files) ? NcclCapture::kOutput : NcclCapture::kFiles;
  } else if (inputs.tee) {
    plan.capture = NcclCapture::kOutput;
  } else {
    variables.set("NCCL_DEBUG_FILE", pattern_in(inputs.folder));
  }
  plan.variables = variables.to_set();
  plan.summary = variables.set_words() + variables.kept_words();
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
