// gdr peermem build: builds the module against the driver and the RDMA stack that are here.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/own_files.h"
#include "cli/peermem_commands.h"
#include "cli/this_host.h"
#include "peermem/build.h"
#include "text/command.h"
#include "text/json_text.h"

namespace gdr::cli {
namespace {

struct BuildOptions : PeermemOptions {
  std::string output = kBuiltModule;
};

int fail(const Error& error, int status = kFailed) {
  say("gdr peermem build: " + error.message);
  return status;
}

std::string told(const peermem::Built& built) {
  std::string text = fmt::format("{}: built for kernel {}\n  GPU driver  {}\n  RDMA stack  {}\n",
                                 printable(built.file), printable(built.kernel),
                                 printable(built.driver), printable(built.rdma));
  for (const std::string& note : built.notes) text += "  note        " + printable(note) + "\n";
  const text::Command install("sudo gdr peermem install {}", built.file);
  return text + "To install it: " + install.text() + "\n";
}

std::string json_of(const peermem::Built& built) {
  nlohmann::ordered_json document = text::envelope("gdr peermem build", 1, provenance());
  document.update({{"exit_status", 0},
                   {"file", built.file},
                   {"kernel", built.kernel},
                   {"driver", built.driver},
                   {"rdma", built.rdma},
                   {"notes", built.notes}});
  return text::json_text(document, 2) + "\n";
}

int build_module(const BuildOptions& options) {
  const Result<peermem::Survey> survey = take_survey(options);
  if (!survey) return fail(survey.error(), kWrongUse);
  const Result<std::string> source = own_folder("share/gdrkit/kernel");
  if (!source) return fail(source.error());
  const peermem::BuildOrder order{*source, options.output, options.choices.headers,
                                  options.choices.driver_source};
  const Result<peermem::Built> built =
      peermem::build(host::Files(options.root), *survey, order, peermem::this_workshop());
  if (!built) return fail(built.error());
  std::fputs((options.json ? json_of(*built) : told(*built)).c_str(), stdout);
  return 0;
}

}  // namespace

void add_peermem_build(CLI::App& peermem, Action& chosen) {
  auto options = std::make_shared<BuildOptions>();
  CLI::App* command = peermem.add_subcommand(
      "build", "Build the module against the driver and the RDMA stack that are here");
  add_peermem_options(*command, *options);
  begin_group(*command, "Output");
  command
      ->add_option("--output", options->output,
                   std::string("The file to make (default: ") + kBuiltModule + ")")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  refuse_empty_values(*command);
  command->callback([options, &chosen] {
    check_peermem_options(*options);
    chosen = [options] { return build_module(*options); };
  });
}

}  // namespace gdr::cli
