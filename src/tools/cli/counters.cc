// gdr counters: prints the packet counters of the software NIC, from the files that
// GDR_SOFT_COUNTERS or `gdr run --counters` made, or what the software NIC's ports have counted.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/counter_file.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/subcommands.h"
#include "cli/this_host.h"
#include "ports/attributes.h"
#include "ports/port_folder.h"
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

std::string to_text(const std::vector<CountedFile>& files, const CountersOptions& options) {
  std::size_t longest = 0;
  for (const CountedFile& file : files) {
    for (const NamedCount& count : file.counts) longest = std::max(longest, count.name.size());
  }
  std::string text;
  for (const CountedFile& file : files) {
    const bool has_title = files.size() > 1 || options.files.empty();
    if (has_title) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", file.name);
    bool any = false;
    for (const NamedCount& count : file.counts) {
      if (count.value == 0 && !options.all) continue;
      text += fmt::format("{:<{}} {:>16}\n", count.name, longest, count.value);
      any = true;
    }
    if (!any) text += "nothing counted yet\n";
  }
  return text;
}

std::string to_json(const std::vector<CountedFile>& files, const CountersOptions& options) {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  for (const CountedFile& file : files) {
    ordered_json counters = ordered_json::object();
    for (const NamedCount& count : file.counts) {
      if (count.value != 0 || options.all) counters[count.name] = count.value;
    }
    const char* what = options.files.empty() ? "port" : "file";
    list.push_back({{what, file.name}, {"counters", std::move(counters)}});
  }
  ordered_json document = text::envelope("gdr counters", 1, provenance());
  document["sources"] = std::move(list);
  return text::json_text(document, 2) + "\n";
}

// What `gdr run` shows in /sys/class/infiniband, read without it.
Result<std::vector<CountedFile>> read_own_ports() {
  const Result<std::string> account = ports::account_folder();
  if (!account) return account.error();
  std::vector<CountedFile> found;
  for (const ports::NamedPort& port : ports::read_ports(ports::port_folder(*account))) {
    CountedFile counted{fmt::format("software NIC {}", port.name), {}};
    for (const ports::Attribute& one : ports::attributes()) {
      if (std::string_view(one.name) == ports::kLifespan) continue;
      counted.counts.push_back(
          {fmt::format("{}/{}", one.folder, one.name), one.value(port.values)});
    }
    found.push_back(std::move(counted));
  }
  if (found.empty()) {
    return Error{
        ENOENT,
        "no software NIC has counted anything for this account; 'gdr run -- PROGRAM' makes "
        "it count"};
  }
  return found;
}

Result<std::vector<CountedFile>> read_files(const CountersOptions& options) {
  std::vector<CountedFile> files;
  for (const std::string& name : options.files) {
    Result<std::vector<NamedCount>> counts = read_counters(name);
    if (!counts) return counts.error();
    files.push_back({name, *std::move(counts)});
  }
  return files;
}

int run_counters(const CountersOptions& options) {
  const Result<std::vector<CountedFile>> files =
      options.files.empty() ? read_own_ports() : read_files(options);
  if (!files) {
    say("gdr counters: " + files.error().message);
    return 2;
  }
  const std::string text = options.json ? to_json(*files, options) : to_text(*files, options);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

void add_counters(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<CountersOptions>();
  CLI::App* counters = program.add_subcommand(
      "counters", "Print the software NIC's packet counters: sent, received, dropped and why");
  counters
      ->add_option("FILE", options->files, "File that gdr run --counters or GDR_SOFT_COUNTERS made")
      ->type_name("");
  counters->add_flag("-v,--all", options->all, "Also print counters that are 0");
  counters->add_flag("--json", options->json, "Print one JSON document instead of text");
  refuse_empty_values(*counters);
  counters->callback([options, &chosen] { chosen = [options] { return run_counters(*options); }; });
}

}  // namespace gdr::cli
