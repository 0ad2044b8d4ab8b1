#include "cli/program.h"

#include <fmt/format.h>

#include <memory>

#include "cli/help.h"
#include "text/colours.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

void read_colours(const std::string& when) {
  if (when != "auto" && when != "always" && when != "never") {
    throw CLI::ValidationError(
        fmt::format("unknown --color '{}'; allowed: auto, always, never", when));
  }
  text::choose_colours(when == "always"  ? text::Colours::kAlways
                       : when == "never" ? text::Colours::kNever
                                         : text::Colours::kAuto);
}

// Before the subcommand or behind it: the same option everywhere.
void add_colour(CLI::App& app) {
  app.add_option_function<std::string>("--color", read_colours,
                                       "Colours: auto (in a terminal), always or never (default: "
                                       "auto)")
      ->type_name("WHEN")
      ->group(app.get_help_ptr()->get_group());
  for (CLI::App* below :
       app.get_subcommands([](CLI::App* one) { return !one->get_group().empty(); })) {
    add_colour(*below);
  }
}

}  // namespace

Program::Program(const CommandLine& line, const Subcommands& add)
    : app("Get GPUDirect RDMA working, prove it, measure it; simulate missing hardware.\n"
          "In a prolog or a readiness gate: gdr prove --require-hardware",
          "gdr") {
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  app.set_version_flag("--version", described_version(), "Print the version and exit");
  add(app, chosen, line);
  add_colour(app);
}

void Program::parse(const std::vector<std::string>& words) {
  // CLI11 takes its words from the back.
  app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
}

}  // namespace gdr::cli
