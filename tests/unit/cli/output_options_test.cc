// The options by which subcommands give their answers, over the whole tree of subcommands: --json
// prints one document, --report writes files, and there is no third way.
#include <gtest/gtest.h>

#include <set>

#include "cli/app_tree.h"
#include "cli/program.h"

namespace gdr::cli {
namespace {

// `visit` gets every subcommand that is shown.
void each_command(const CLI::App& app, const std::function<void(const CLI::App&)>& visit) {
  visit(app);
  for (const CLI::App* below : shown_subcommands(app)) each_command(*below, visit);
}

void each_option(const std::function<void(const CLI::App&, const CLI::Option&)>& visit) {
  static const Program program;
  each_command(program.app, [&](const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) visit(app, *option);
  });
}

bool is_named(const CLI::Option& option, const char* name) { return option.check_name(name); }

TEST(OutputOptions, JsonIsAFlagEverywhere) {
  std::set<std::string> commands;
  each_option([&](const CLI::App& app, const CLI::Option& option) {
    if (!is_named(option, "--json")) return;
    commands.insert(full_name(app));
    EXPECT_FALSE(takes_value(option)) << full_name(app);
  });
  EXPECT_GE(commands.size(), 15u);
}

// Those without answer nothing: they hold others, describe, or pass a program through.
TEST(OutputOptions, EverySubcommandThatAnswersSomethingHasJson) {
  const std::set<std::string> kOthers = {"gdr",      "gdr help",    "gdr mpi",
                                         "gdr nccl", "gdr peermem", "gdr run"};
  static const Program program;
  each_command(program.app, [&](const CLI::App& app) {
    const bool has = app.get_option_no_throw("--json") != nullptr;
    EXPECT_NE(has, kOthers.contains(full_name(app))) << full_name(app);
  });
}

// Whoever adds an option with a file says here that it is no answer, or uses ReportFiles.
TEST(OutputOptions, NoFileOfAnAnswerIsNamedByAnythingButReport) {
  const std::set<std::string> kNoAnswer = {
      // Read.
      "--hwloc-xml", "--nccl-xml", "--lspci", "--secret", "--driver-module", "--key", "--cert",
      "--topology",
      // What passed by: packets, counters that grow, the log of a program; a module.
      "--pcap", "--counters", "--log", "--output", "--mpirun", "--mpicc",
      // What a killed run leaves behind.
      "--lines"};
  std::set<std::string> reports, others;
  each_option([&](const CLI::App& app, const CLI::Option& option) {
    if (value_name(option) != "FILE") return;
    if (is_named(option, "--report")) {
      reports.insert(full_name(app));
      EXPECT_NE(app.get_option_no_throw("--json"), nullptr) << full_name(app);
      EXPECT_NE(option.get_description().find("may be repeated"), std::string::npos);
    } else {
      others.insert(option_names(option).back());
    }
  });
  EXPECT_EQ(others, kNoAnswer);
  EXPECT_EQ(reports,
            (std::set<std::string>{"gdr doctor", "gdr fabric", "gdr mpi run", "gdr nccl run",
                                   "gdr perf", "gdr prove", "gdr topo", "gdr watch"}));
}

}  // namespace
}  // namespace gdr::cli
