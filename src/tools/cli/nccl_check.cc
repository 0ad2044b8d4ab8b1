// gdr nccl check: tells from a log of NCCL which connections use GPUDirect RDMA, and why others do
// not.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "base/unique_fd.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/nccl_answer.h"
#include "cli/nccl_commands.h"
#include "cli/this_host.h"
#include "cli/whole_io.h"
#include "explain/nccl_log.h"
#include "nccl/causes.h"
#include "nccl/json_report.h"
#include "text/format.h"

namespace gdr::cli {
namespace {

struct CheckOptions {
  std::string file;
  nccl::Expectation expectation = nccl::Expectation::kGdrdma;
  bool all = false;
  bool json = false;
};

int refuse(const CheckOptions& options, const std::string& reason) {
  const std::string name = options.file == "-" ? "standard input" : options.file;
  say(fmt::format("gdr nccl check: {}: {}", name, reason));
  return 2;
}

int check(const CheckOptions& options) {
  UniqueFd file;
  if (options.file != "-") {
    file.reset(open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return refuse(options, std::strerror(errno));
  }
  nccl::LogReader reader;
  explain::Recogniser recogniser;
  const Result<void> read =
      read_log(file ? file.get() : STDIN_FILENO, "gdr nccl check", [&](std::string_view bytes) {
        reader.feed(bytes);
        recogniser.feed(bytes);
      });
  if (!read) return refuse(options, read.error().message);
  nccl::Log log = reader.finish();
  if (log.messages == 0) {
    return refuse(options,
                  fmt::format("no NCCL output found in {}; run the program with {}, or with "
                              "'gdr nccl run -- PROGRAM'",
                              text::plural(log.lines, "line"), nccl::debug_settings().text()));
  }
  nccl::Report report = nccl::judge(std::move(log), options.expectation);
  explain::add_symptoms(recogniser.finish(), report);
  if (options.json) {
    std::fputs(nccl::to_json(report, "gdr nccl check", provenance()).c_str(), stdout);
  } else {
    print_answer(report, options.all, stdout);
  }
  return report.met ? 0 : 1;
}

}  // namespace

void add_nccl_check(CLI::App& nccl, Action& chosen) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = nccl.add_subcommand("check", "Check a log of NCCL for GPUDirect RDMA");
  command->add_option("FILE", options->file, "Log of one rank or of many; - is standard input")
      ->type_name("")
      ->required();
  add_expectation(*command, options->expectation);
  command->add_flag("-v,--all", options->all,
                    "List every connection (default: the first ones, those without GPUDirect RDMA "
                    "before others)");
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  refuse_empty_values(*command);
  command->callback([options, &chosen] { chosen = [options] { return check(*options); }; });
}

}  // namespace gdr::cli
