// gdr counters: prints the packet counters of the software NIC, from the files that
// GDR_SOFT_COUNTERS or `gdr run --counters` made.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/counter_file.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/subcommands.h"
#include "text/json_text.h"

namespace gdr::cli {
namespace {

struct CountersOptions {
  std::vector<std::string> files;
  bool all = false;
  bool json = false;
};

struct CountedFile {
  std::string name;
  std::vector<NamedCount> counts;
};

std::string to_text(const std::vector<CountedFile>& files, bool all) {
  std::size_t longest = 0;
  for (const CountedFile& file : files) {
    for (const NamedCount& count : file.counts) longest = std::max(longest, count.name.size());
  }
  std::string text;
  for (const CountedFile& file : files) {
    if (files.size() > 1) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", file.name);
    bool any = false;
    for (const NamedCount& count : file.counts) {
      if (count.value == 0 && !all) continue;
      text += fmt::format("{:<{}} {:>16}\n", count.name, longest, count.value);
      any = true;
    }
    if (!any) text += "no packets yet\n";
  }
  return text;
}

std::string to_json(const std::vector<CountedFile>& files, bool all) {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  for (const CountedFile& file : files) {
    ordered_json counters = ordered_json::object();
    for (const NamedCount& count : file.counts) {
      if (count.value != 0 || all) counters[count.name] = count.value;
    }
    list.push_back({{"file", file.name}, {"counters", std::move(counters)}});
  }
  return text::json_text(list, 2) + "\n";
}

int run_counters(const CountersOptions& options) {
  std::vector<CountedFile> files;
  for (const std::string& name : options.files) {
    Result<std::vector<NamedCount>> counts = read_counters(name);
    if (!counts) {
      say("gdr counters: " + counts.error().message);
      return 2;
    }
    files.push_back({name, *std::move(counts)});
  }
  const std::string text = options.json ? to_json(files, options.all) : to_text(files, options.all);
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    say("gdr counters: cannot write to standard output");
    return 1;
  }
  return 0;
}

}  // namespace

void add_counters(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<CountersOptions>();
  CLI::App* counters = program.add_subcommand(
      "counters", "Print the software NIC's packet counters: sent, received, dropped and why");
  counters
      ->add_option("FILE", options->files, "File that gdr run --counters or GDR_SOFT_COUNTERS made")
      ->type_name("")
      ->required();
  counters->add_flag("--all", options->all, "Also print counters that are 0");
  counters->add_flag("--json", options->json, "Print one JSON document instead of text");
  refuse_empty_values(*counters);
  counters->footer(
      "docs/counters.md explains each counter. Running programs keep counting.\n"
      "\n"
      "Exit status: 0 printed; 2 wrong use, or a file that holds no counters.\n"
      "\n"
      "Examples:\n"
      "  gdr run --counters packets -- ib_write_bw node7\n"
      "  gdr counters packets");
  counters->callback([options, &chosen] { chosen = [options] { return run_counters(*options); }; });
}

}  // namespace gdr::cli
