#include "doctor/probe/command.h"

#include <sys/wait.h>

#include "process/start.h"

namespace gdr::doctor {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr int kNotFound = 127;  // of a script whose program is not there

}  // namespace

CommandAnswer run_command(const std::vector<std::string>& words, Nanoseconds limit) {
  CommandAnswer answer;
  process::Start start;
  start.command = words;
  start.only_safe_variables = true;
  Result<process::ChildEnd> end = run(std::move(start), process::Output::kAll, limit, kMostBytes);
  if (!end) return answer;
  answer.timed_out = end->timed_out;
  answer.status = WIFEXITED(end->status) ? WEXITSTATUS(end->status) : -1;
  answer.found = answer.timed_out || answer.status != kNotFound;
  answer.output = std::move(end->output);
  return answer;
}

}  // namespace gdr::doctor
