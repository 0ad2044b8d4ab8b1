// gdr peermem status: would a peer-memory module help, and which would the kernel take?
#include <cstdio>
#include <memory>

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/peermem_commands.h"
#include "cli/this_host.h"
#include "peermem/status.h"

namespace gdr::cli {
namespace {

int show_status(const PeermemOptions& options) {
  const Result<peermem::Survey> survey = take_survey(options);
  if (!survey) {
    say("gdr peermem status: " + survey.error().message);
    return kWrongUse;
  }
  const std::string text = options.json ? peermem::to_json(*survey, provenance())
                                        : peermem::to_text(*survey, text::Style::of(stdout));
  std::fputs(text.c_str(), stdout);
  return peermem::exit_status(*survey);
}

}  // namespace

void add_peermem_status(CLI::App& peermem, Action& chosen) {
  auto options = std::make_shared<PeermemOptions>();
  CLI::App* command = peermem.add_subcommand(
      "status", "Tell whether a module would help, and which of those here the kernel would take");
  add_peermem_options(*command, *options);
  begin_group(*command, "Output");
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  refuse_empty_values(*command);
  command->callback([options, &chosen] {
    check_peermem_options(*options);
    chosen = [options] { return show_status(*options); };
  });
}

}  // namespace gdr::cli
