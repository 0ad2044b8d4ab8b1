// gdr mpi check: whether the MPIs of a host move GPU memory directly, staged or not at all, and
// why.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/environment.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/mpi_commands.h"
#include "cli/search_folders.h"
#include "cli/this_host.h"
#include "host/source/source.h"
#include "mpi/json_report.h"
#include "mpi/survey.h"
#include "mpi/text_report.h"

namespace gdr::cli {
namespace {

constexpr Nanoseconds kTotal = 60 * kSecond;  // of all programs together

struct CheckOptions {
  std::string launcher, root = "/";
  std::uint64_t seconds = 10;
  bool all = false;
  bool json = false;
};

int refuse(const std::string& reason) {
  say("gdr mpi check: " + reason);
  return kWrongUse;
}

// A path from here; a bare name is looked for in PATH.
std::string from_root(const CheckOptions& options) {
  const std::string& given = options.launcher;
  if (given.find('/') == given.npos || options.root != "/") return given;
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(given, ignored);
  return ignored ? given : path.lexically_normal().string();
}

// The folder of the launcher that was named, behind all links; empty: none was.
std::string named_folder(const CheckOptions& options) {
  if (options.launcher.find('/') == options.launcher.npos) return {};
  std::error_code ignored;
  return std::filesystem::canonical(options.launcher, ignored).parent_path().string();
}

int check(const CheckOptions& options) {
  const host::Files files(options.root);
  if (!files.problem().empty()) return refuse(files.problem());
  host::Source source;
  source.root = options.root;
  const Result<host::Inventory> inventory = host::read_inventory(source);
  if (!inventory) return refuse(inventory.error().message);
  const std::unique_ptr<mpi::Programs> programs = [&]() -> std::unique_ptr<mpi::Programs> {
    if (!files.is_live()) return std::make_unique<mpi::RecordedPrograms>(files);
    return std::make_unique<mpi::LivePrograms>(static_cast<Nanoseconds>(options.seconds) * kSecond,
                                               kTotal, named_folder(options));
  }();
  mpi::Machine machine{files, mpi::read_variables(files), *programs};
  // Also what is not started has to be listed.
  if (files.is_live()) machine.variables["PATH"] = given_path();
  const Result<mpi::Report> report = mpi::examine(machine, *inventory, from_root(options));
  if (!report) return refuse(report.error().message);
  const std::string text = options.json
                               ? mpi::to_json(*report, provenance())
                               : mpi::to_text(*report, {options.all, text::Style::of(stdout)});
  std::fputs(text.c_str(), stdout);
  return mpi::exit_status(*report);
}

void read_seconds(const std::string& text, CheckOptions& options) {
  const Result<std::uint64_t> seconds = parse_number(text, 1, 600);
  if (!seconds) {
    throw CLI::ValidationError("--timeout must be a number of seconds from 1 to 600, not '" + text +
                               "'");
  }
  options.seconds = *seconds;
}

}  // namespace

void add_mpi_check(CLI::App& mpi, Action& chosen) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      mpi.add_subcommand("check", "Check what the MPIs of this host do with GPU memory");
  command
      ->add_option("MPIRUN", options->launcher,
                   "Launcher of the MPI to check: its path, or a name in PATH (default: every MPI "
                   "of this host)")
      ->type_name("");
  command
      ->add_option_function<std::string>(
          "--timeout", [options](const std::string& text) { read_seconds(text, *options); },
          "How long a program such as ompi_info may take, in seconds (default: 10)")
      ->type_name("SECONDS");
  command
      ->add_option("--root", options->root,
                   "Recorded machine: a folder or a tar archive with files and outputs of programs "
                   "(default: /, this machine)")
      ->type_name("PATH");
  command->add_flag("-v,--all", options->all, "Also show what was read of each MPI");
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  refuse_empty_values(*command);
  command->callback([options, &chosen] { chosen = [options] { return check(*options); }; });
}

}  // namespace gdr::cli
