// gdr version: which gdr this is, and how it was built.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/help.h"
#include "cli/subcommands.h"
#include "cli/this_host.h"
#include "text/json_text.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

// The version and the commit are in what every document begins with.
std::string to_json(const BuildFacts& facts) {
  const auto& date = facts.commit_date;
  nlohmann::ordered_json document = text::envelope("gdr version", 1, provenance());
  document.update(
      {{"number", facts.number},
       {"commit_date", date.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(date)},
       {"build_type", facts.build_type},
       {"compiler", facts.compiler},
       {"processor", facts.processor},
       {"glibc", facts.glibc}});
  return text::json_text(document, 2) + "\n";
}

}  // namespace

void add_version(CLI::App& program, Action& chosen) {
  auto json = std::make_shared<bool>(false);
  CLI::App* version = program.add_subcommand("version", "Print the version");
  version->add_flag("--json", *json, "Print one JSON document instead of text");
  version->callback([json, &chosen] {
    chosen = [json] {
      const std::string text = *json ? to_json(build_facts()) : described_version() + "\n";
      std::fputs(text.c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace gdr::cli
