// gdr doctor capture: what the checks read of this machine, to be judged on another one.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/command_line.h"
#include "cli/doctor_commands.h"
#include "cli/help.h"
#include "doctor/capture/capture.h"
#include "host/files.h"
#include "text/format.h"
#include "text/style.h"
#include "text/wrap.h"

namespace gdr::cli {
namespace {

struct CaptureOptions {
  std::string target, root = "/";
};

std::string replay_of(const std::string& target) { return "gdr doctor --root " + target; }

// What somebody wants to know before he sends it on.
std::string describe(const doctor::Capture& capture, const std::string& target) {
  const std::size_t columns = text::Style::of(stdout).columns;
  std::string text;
  const auto add = [&](const std::string& line, std::size_t indent) {
    text += text::wrap(printable(line), columns, indent) + "\n";
  };
  std::size_t files = 0, bytes = 0;
  for (const auto& [path, captured] : capture.entries) {
    if (captured.kind != doctor::Captured::Kind::kFile || captured.name_only) continue;
    ++files;
    bytes += captured.content.size();
  }
  for (const std::string& line : doctor::contents_of(capture)) add(line, 8);
  add(fmt::format("{}: {} with {} bytes", target, text::plural(files, "file"), bytes), 2);
  add("left out: everything not known to be harmless: serial numbers and UUIDs; kernel parameters, "
      "variables, log lines and files that no check needs",
      2);
  add("contains MAC addresses and GIDs (needed to match interface names), names of NICs and "
      "interfaces, the machine's model, the kernel's release",
      2);
  for (const std::string& missing : capture.missing) add("missing: " + missing, 2);
  add("replay: " + replay_of(target), 2);
  return text;
}

int capture_machine(const CaptureOptions& options) {
  if (const host::Files files(options.root); !files.problem().empty()) {
    say("gdr doctor capture: " + files.problem());
    return kWrongUse;
  }
  const doctor::Capture capture = doctor::take_capture(options.root);
  if (const Result<void> written = doctor::write_capture(capture, options.target); !written) {
    say("gdr doctor capture: " + written.error().message);
    return written.error().code == EINVAL ? kWrongUse : kFailed;
  }
  const std::string text = describe(capture, options.target);
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    say("gdr doctor capture: cannot write to standard output");
    return kFailed;
  }
  return 0;
}

}  // namespace

void add_doctor_capture(CLI::App& doctor, Action& chosen) {
  auto options = std::make_shared<CaptureOptions>();
  CLI::App* command = doctor.add_subcommand(
      "capture", "Everything that the checks read of this machine, to be judged on another one");
  command
      ->add_option("FILE", options->target,
                   "The archive to write, as in host.tar; with a slash at the end, a folder")
      ->type_name("")
      ->required();
  command
      ->add_option("--root", options->root,
                   "Another machine, captured before: its folder or tar archive")
      ->type_name("PATH");
  refuse_empty_values(*command);
  command->footer(
      "Exit status: 0 written; 1 it could not be; 2 wrong use.\n"
      "\n"
      "Without root it lacks most of the configuration space, and the kernel's log.");
  command->callback(
      [options, &chosen] { chosen = [options] { return capture_machine(*options); }; });
}

}  // namespace gdr::cli
