#include "cli/entry.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

#include "base/printable.h"
#include "base/result.h"
#include "cli/help.h"
#include "cli/help_command.h"
#include "cli/perftest.h"
#include "cli/program.h"
#include "cli/search_folders.h"

namespace gdr::cli {
namespace {

// The words as gdr's own parser knows them.
Result<std::vector<std::string>> in_our_words(const std::vector<std::string>& typed) {
  const auto perf = typed.begin() + static_cast<std::ptrdiff_t>(subcommand_at(typed));
  if (perf == typed.end() || *perf != "perf") return typed;
  const Result<FromPerftest> read = from_perftest({perf + 1, typed.end()});
  if (!read) return Error{read.error().code, "gdr perf: " + read.error().message};
  for (const std::string& note : read->notes) say("gdr perf: " + note);
  std::vector<std::string> words(typed.begin(), perf + 1);
  words.insert(words.end(), read->words.begin(), read->words.end());
  return words;
}

int refuse(const Error& error) {
  say(error.message);
  return kWrongUse;
}

// Programs that the user names have the folders that the user has set.
bool starts_users_program(const CLI::App& app) {
  return std::ranges::any_of(app.get_subcommands(), [](const CLI::App* one) {
    return one->get_name() == "run" || one->get_name() == "watch" || one->get_name() == "nccl";
  });
}

int run_program(const std::vector<std::string>& typed, char** argv, const Subcommands& add) {
  const Result<std::vector<std::string>> ours = in_our_words(typed);
  if (!ours) return refuse(ours.error());
  const CommandLine line = split_command_line(*ours);
  Program program(line, add);
  const Result<std::vector<std::string>> words = without_help(program.app, line.own);
  if (!words) return refuse(words.error());
  try {
    program.parse(*words);
  } catch (const CLI::ParseError& error) {
    // --help and --version, but not behind a word that is no subcommand.
    if (error.get_exit_code() == 0 && !has_unknown_subcommand(program.app)) {
      return program.app.exit(error);
    }
    say(usage_error(program.app, error));
    return kWrongUse;
  }
  if (!program.chosen) {
    say("gdr: no subcommand given; allowed: " + allowed_subcommands(program.app) +
        "; see 'gdr --help'");
    return kWrongUse;
  }
  if (!starts_users_program(program.app)) leave_out_unsafe_folders(argv);
  return program.chosen();
}

// A report that nobody can read is none, whatever its status says: 0, or 3, that a part is good.
int with_output_written(int status) {
  errno = 0;  // where it failed earlier, the reason is gone
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  const std::string what = "gdr: cannot write to standard output";
  say(errno == 0 ? what : from_errno(what).message);
  return status == 0 || status == kPartly ? kFailed : status;
}

// A file that may grow no further (RLIMIT_FSIZE) is an error that is reported like others. By a
// handler: a program that is started from here would inherit that the signal is ignored.
void take_size_limit_as_error() {
  if (signal(SIGXFSZ, [](int) {}) == SIG_IGN) signal(SIGXFSZ, SIG_IGN);
}

// What is opened next must not become the standard output of somebody who was started without one.
// A program that is started from here has none either. What is printed to none is an error.
void fill_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    const int access = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (open("/dev/null", access | O_CLOEXEC) < 0) return;
  }
}

}  // namespace

int enter(int argc, char** argv, const Subcommands& add, const Hidden& hidden) {
  fill_standard_descriptors();
  take_size_limit_as_error();
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::optional<int> status = hidden(words);
    return with_output_written(status ? *status : run_program(words, argv, add));
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return with_output_written(kFailed);
    std::fprintf(stderr, "gdr: %s\n", printable(error.what()).c_str());
    return 1;
  }
}

}  // namespace gdr::cli
