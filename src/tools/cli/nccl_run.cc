// gdr nccl run: runs a program with NCCL's log switched on, and checks the log at the end.
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/environment.h"
#include "base/output_file.h"
#include "base/unique_fd.h"
#include "cli/child.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/nccl_answer.h"
#include "cli/nccl_commands.h"
#include "cli/nccl_run_plan.h"
#include "cli/report_files.h"
#include "cli/run_exec.h"
#include "cli/this_host.h"
#include "cli/whole_io.h"
#include "explain/nccl_log.h"
#include "nccl/json_report.h"
#include "process/find_program.h"
#include "process/private_folder.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

struct NcclRunOptions {
  nccl::Expectation expectation = nccl::Expectation::kGdrdma;
  std::string log;
  bool json = false;
  ReportFiles report{{".json"}};
  bool all = false;
  bool tee = false;
  bool fail = false;
  std::vector<std::string> command;
};

int refuse(const std::string& reason, int status) {
  say("gdr nccl run: " + reason);
  return status;
}

// Reads the log, and keeps a copy for --log.
class CaughtLog {
 public:
  Result<void> copy_to(const std::string& file) {
    Result<UniqueFd> opened = open_output(file, Existing::kReplace);
    if (!opened) return opened.error();
    copy_ = *std::move(opened);
    return {};
  }
  void take(std::string_view bytes) {
    reader_.feed(bytes);
    recogniser_.feed(bytes);
    copy(bytes);
  }
  void take_file(const std::string& name) {
    const UniqueFd file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    char last = '\n';
    const Result<void> read = read_log(file.get(), "gdr nccl run", [&](std::string_view bytes) {
      take(bytes);
      last = bytes.back();
    });
    // A file may end within a line, and another one follows.
    if (last == '\n' && read) return;
    reader_.next_file();
    recogniser_.feed("\n");
    copy("\n");
  }
  nccl::Log finish() { return reader_.finish(); }
  explain::Explanation symptoms() { return recogniser_.finish(); }
  bool copy_failed() const { return copy_failed_; }

 private:
  void copy(std::string_view bytes) {
    if (!copy_ || write_whole(copy_.get(), bytes)) return;
    copy_failed_ = true;
    copy_.reset();
  }

  nccl::LogReader reader_;
  explain::Recogniser recogniser_;
  UniqueFd copy_;
  bool copy_failed_ = false;
};

// Files older than the start belong to another run.
std::vector<std::string> files_of(const NcclPlan& plan, const std::string& folder,
                                  fs::file_time_type start) {
  std::vector<std::string> files;
  std::error_code error;
  if (plan.capture == NcclCapture::kFolder) {
    for (const auto& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
  }
  if (plan.capture == NcclCapture::kFiles) {
    glob_t found{};
    if (glob(glob_of(plan.files).c_str(), 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) {
        if (fs::last_write_time(found.gl_pathv[i], error) >= start && !error) {
          files.emplace_back(found.gl_pathv[i]);
        }
      }
    }
    globfree(&found);
  }
  return files;
}

// The program's own status, unless --fail, --report or --log could not be satisfied.
int answer(const NcclRunOptions& options, CaughtLog& log, int status) {
  const int failure = status == 0 ? 1 : status;
  nccl::Report report = nccl::judge(log.finish(), options.expectation);
  explain::add_symptoms(log.symptoms(), report);
  bool printed = true;
  if (report.log.messages == 0) {
    say("gdr nccl run: no NCCL output found: the program does not use NCCL, sets NCCL_DEBUG "
        "itself, "
        "or runs on other hosts; for other hosts try --tee");
  } else if (!options.json) {
    printed = print_answer(report, options.all, stderr);
  }
  const std::string document = nccl::to_json(report, "gdr nccl run", provenance());
  const Result<void> written = options.report.write([&](auto) { return std::string(document); });
  if (options.json) std::fputs(document.c_str(), stdout);
  if (!written) return refuse(written.error().message, failure);
  if (log.copy_failed()) return refuse(options.log + ": cannot write all of the log", failure);
  return options.fail && (!report.met || !printed) ? failure : status;
}

int run(const NcclRunOptions& options) {
  const Result<std::string> path =
      process::find_program(options.command.front(), process::search_path());
  if (!path) return refuse(path.error().message, exit_status_for(path.error().code));
  const auto folder = process::PrivateFolder::make("nccl");
  if (!folder) return refuse(folder.error().message, 2);
  if (const Result<void> writable = options.report.check(); !writable) {
    return refuse(writable.error().message, kWrongUse);
  }
  CaughtLog log;
  if (!options.log.empty()) {
    if (Result<void> opened = log.copy_to(options.log); !opened) {
      return refuse(opened.error().message, 2);
    }
  }
  NcclPlanInputs inputs;
  inputs.tee = options.tee;
  inputs.folder = folder->name();
  inputs.environment = [](const char* name) { return environment(name); };
  const NcclPlan plan = make_nccl_plan(inputs);
  say("gdr nccl run: " + plan.summary);

  ChildOptions child{*path, options.command, plan.variables, nullptr, nullptr};
  child.output_to_errors = options.json;
  if (plan.capture == NcclCapture::kOutput) {
    child.on_output = [&](std::string_view bytes) { log.take(bytes); };
  }
  // The folder's own time: file systems tick more coarsely than clocks.
  const fs::file_time_type start = fs::last_write_time(folder->name());
  const Result<int> status = run_child(child);
  if (!status) return refuse(status.error().message, exit_status_for(status.error().code));
  for (const std::string& file : files_of(plan, folder->name(), start)) log.take_file(file);
  return answer(options, log, *status);
}

}  // namespace

void add_nccl_run(CLI::App& nccl, Action& chosen, const std::vector<std::string>& command) {
  auto options = std::make_shared<NcclRunOptions>();
  options->command = command;
  CLI::App* run_command =
      nccl.add_subcommand("run", "Run a program, then tell whether its NCCL used GPUDirect RDMA");
  add_expectation(*run_command, options->expectation);
  run_command->add_option("--log", options->log, "Keep the log in FILE, for gdr nccl check")
      ->type_name("FILE");
  run_command->add_flag("--json", options->json,
                        "Print one JSON document instead of text; the program's standard output "
                        "goes to standard error");
  options->report.add_to(*run_command);
  run_command->add_flag("-v,--all", options->all,
                        "List every connection (default: the first ones)");
  run_command->add_flag("--tee", options->tee,
                        "Read the log from the program's own output, to which launchers forward "
                        "other hosts' output (default: from files)");
  run_command->add_flag("--fail", options->fail,
                        "End with status 1 if the program succeeds but the answer is not as "
                        "expected");
  refuse_empty_values(*run_command);
  run_command->callback([options, &chosen] {
    if (options->command.empty()) {
      throw CLI::ValidationError("no PROGRAM given, as in 'gdr nccl run -- torchrun train.py'");
    }
    chosen = [options] { return run(*options); };
  });
}

}  // namespace gdr::cli
