#include "cli/stand_ins.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/environment.h"
#include "base/unique_fd.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

// At most this much of what a checker says is repeated.
constexpr std::size_t kMostWords = 4096;

std::string read_all(int fd) {
  std::string text;
  char buffer[512];
  while (text.size() < kMostWords) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text.substr(0, text.find('\n'));
}

// Runs `program`; what it wrote on standard output if it ended with a status other than 0.
Result<std::string> complaint_of(const std::string& program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{errno, std::strerror(errno)};
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  pid_t child = 0;
  const int code = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return Error{code, fmt::format("{}: {}", program, std::strerror(code))};
  write_end.reset();
  std::string words = read_all(read_end.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::string();
  return words.empty() ? fmt::format("{} failed", program) : words;
}

// A library neither prints nor exits and exports nothing that the real one does not, so a small
// program beside each stand-in says what is wrong with its variables. Without any of them there is
// nothing to ask.
Result<void> check(const std::string& folder, const char* library,
                   std::initializer_list<const char*> variables) {
  if (!fs::exists(fs::path(folder) / library)) {
    return Error{ENOENT, fmt::format("{}/{} is missing; build or install gdrkit as a whole", folder,
                                     library)};
  }
  if (std::none_of(variables.begin(), variables.end(),
                   [](const char* name) { return environment(name).has_value(); })) {
    return {};
  }
  Result<std::string> complaint = complaint_of(folder + "/check-configuration");
  if (!complaint) return complaint.error();
  if (!complaint->empty()) return Error{EINVAL, *complaint};
  return {};
}

}  // namespace

Result<std::string> stand_in_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Error{error.value(), "cannot read /proc/self/exe; is /proc mounted?"};
  return (self.parent_path().parent_path() / "lib/gdrkit").string();
}

Result<void> check_soft_nic(const std::string& folder) {
  return check(folder + "/soft-nic", "libibverbs.so.1",
               {"GDR_SOFT_DEVICES", "GDR_SOFT_PATH", "GDR_SOFT_PCAP", "GDR_SOFT_FAULTS",
                "GDR_SOFT_COUNTERS"});
}

Result<void> check_soft_gpu(const std::string& folder) {
  return check(folder + "/soft-gpu", "libcuda.so.1", {"GDR_SOFT_GPUS", "GDR_SOFT_DMA_BUF"});
}

Result<void> check_observer(const std::string& folder) {
  return check(folder + "/observe", "libgdr-observe.so", {});
}

}  // namespace gdr::cli
