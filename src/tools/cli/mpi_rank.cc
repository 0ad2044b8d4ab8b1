// gdr mpi-rank: what `gdr mpi run` has the launcher start in place of each rank. It starts the
// rank's program, on the stand-ins where they are wanted, watches its requests, and tells it what
// the NICs of its host have counted whenever it asks.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "base/environment.h"
#include "base/output_file.h"
#include "base/unique_fd.h"
#include "cli/help.h"
#include "cli/mpi_commands.h"
#include "cli/run_exec.h"
#include "cli/run_program_file.h"
#include "cli/run_supervise.h"
#include "cli/stand_ins.h"
#include "cli/this_host.h"
#include "cli/watch_plan.h"
#include "host/inventory.h"
#include "mpi/run/counters.h"
#include "process/start.h"
#include "process/trust.h"
#include "watching/ledger_file.h"
#include "watching/ports.h"
#include "watching/snapshot.h"

namespace gdr::cli {
namespace {

struct RankOptions {
  bool soft_nic = false, soft_gpu = false;
  std::vector<std::string> command;
};

constexpr int kLookMs = 100;

int refuse(const Error& error) {
  say("gdr mpi run: " + error.message);
  return exit_status_for(error.code);
}

// Two network namespaces of one machine are two hosts to NICs.
std::string host_and_network() {
  struct stat network {};
  if (stat("/proc/self/ns/net", &network) != 0) return name_of_this_host();
  return fmt::format("{}/{}", name_of_this_host(), network.st_ino);
}

// The program behind `gdr run` where a stand-in is wanted.
std::vector<std::string> command_of(const RankOptions& options) {
  if (!options.soft_nic && !options.soft_gpu) return options.command;
  std::vector<std::string> command = {"/proc/self/exe",
                                      "run",
                                      "--quiet",
                                      options.soft_nic ? "--soft-nic" : "--no-soft-nic",
                                      options.soft_gpu ? "--soft-gpu" : "--no-soft-gpu",
                                      "--"};
  command.insert(command.end(), options.command.begin(), options.command.end());
  return command;
}

Result<void> watch_program(const std::string& path, const watching::LedgerFile& file) {
  const Result<std::string> stand_ins = stand_in_folder();
  if (!stand_ins) return stand_ins.error();
  if (Result<void> usable = check_watcher(*stand_ins); !usable) return usable;
  const Result<ProgramFile> program = inspect_program(path);
  if (!program) return program.error();
  const Result<std::string> preload =
      watch_preload(*program, watcher_in(*stand_ins), environment("LD_PRELOAD").value_or(""));
  if (!preload) return preload.error();
  setenv("LD_PRELOAD", preload->c_str(), 1);
  setenv(ledger::kWatchVariable, file.variable().c_str(), 1);
  return {};
}

// Answers until the program has ended; the status that waitpid() gives.
int answer_until_the_end(pid_t program, UniqueFd questions,
                         const std::function<std::string()>& answer) {
  for (;;) {
    int status = 0;
    if (waitpid(program, &status, questions ? WNOHANG : 0) == program) return status;
    pollfd wait{questions.get(), POLLIN, 0};
    if (poll(&wait, 1, kLookMs) <= 0) continue;
    char question = 0;
    const ssize_t got = read(questions.get(), &question, 1);
    if (got < 0 && errno == EINTR) continue;
    // The program's end, or a descendant's that has kept nothing but this.
    if (got != 1 || !write_whole(questions.get(), answer() + "\n")) questions.reset();
  }
}

int run_rank(const RankOptions& options) {
  // The launcher's end, however it comes, is this rank's, and this one's is the program's.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  // Nobody on this host has judged yet what gdr mpi run has compiled on another one.
  const std::string& compiled = options.command.front();
  if (const auto stranger = process::who_else_can_change(compiled)) {
    return refuse({EPERM, fmt::format("{} is not started on {}: {}; type --folder DIR", compiled,
                                      name_of_this_host(), stranger->text())});
  }
  Result<watching::LedgerFile> file = watching::LedgerFile::make();
  if (!file) return refuse(file.error());
  if (Result<void> watched = watch_program(options.command.front(), *file); !watched) {
    return refuse(watched.error());
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return refuse(from_errno("cannot make a socket pair"));
  }
  UniqueFd own(ends[0]), given(ends[1]);
  setenv(mpi_run::kCountersVariable, std::to_string(given.get()).c_str(), 1);
  process::Start start;
  start.command = command_of(options);
  start.chosen_by = process::ChosenBy::kAccount;  // judged above, or this program
  start.output = STDOUT_FILENO;
  start.in_child = [&given] {
    fcntl(given.get(), F_SETFD, 0);
    signal(SIGPIPE, SIG_DFL);
  };
  const Result<pid_t> program = begin(start);
  given.reset();
  if (!program) return refuse(program.error());
  const host::Inventory machine = options.soft_nic ? host::Inventory() : host::take_inventory();
  const std::string host = host_and_network();
  end_as(answer_until_the_end(*program, std::move(own), [&] {
    return mpi_run::counters_line(
        host,
        options.soft_nic ? watching::read_software_ports() : watching::read_ports("/", machine),
        watching::take_snapshot(file->ledger()));
  }));
}

}  // namespace

void add_mpi_rank(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<RankOptions>();
  CLI::App* rank = program.add_subcommand("mpi-rank", "Started by gdr mpi run")->group("");
  rank->add_flag("--soft-nic", options->soft_nic);
  rank->add_flag("--soft-gpu", options->soft_gpu);
  rank->add_option("PROGRAM", options->command)->required();
  rank->callback([options, &chosen] { chosen = [options] { return run_rank(*options); }; });
}

}  // namespace gdr::cli
