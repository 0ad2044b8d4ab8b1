// gdr doctor capture: packs what the checks read, to be judged on another machine.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "cli/doctor_commands.h"
#include "cli/help.h"
#include "cli/this_host.h"
#include "doctor/capture/capture.h"
#include "host/files.h"
#include "text/command.h"
#include "text/envelope.h"
#include "text/format.h"
#include "text/json_text.h"
#include "text/style.h"
#include "text/wrap.h"

namespace gdr::cli {
namespace {

struct CaptureOptions {
  std::string target, root = "/";
  bool json = false;
};

std::string replay_of(const std::string& target) {
  return text::Command("gdr doctor --root {}", target).text();
}

struct Amount {
  std::size_t files = 0, bytes = 0;
};

Amount amount_of(const doctor::Capture& capture) {
  Amount amount;
  for (const auto& [path, captured] : capture.entries) {
    if (captured.kind != doctor::Captured::Kind::kFile || captured.name_only) continue;
    ++amount.files;
    amount.bytes += captured.content.size();
  }
  return amount;
}

std::string to_json(const doctor::Capture& capture, const std::string& target) {
  const Amount amount = amount_of(capture);
  nlohmann::ordered_json document = text::envelope("gdr doctor capture", 1, provenance());
  document.update({{"file", target},
                   {"files", amount.files},
                   {"bytes", amount.bytes},
                   {"contents", doctor::shapes_of(capture)},
                   {"missing", capture.missing},
                   {"replay", replay_of(target)}});
  return text::json_text(document, 2) + "\n";
}

// What to know before sending the capture to somebody.
std::string describe(const doctor::Capture& capture, const std::string& target) {
  const std::size_t columns = text::Style::of(stdout).columns;
  std::string text;
  const auto add = [&](const std::string& line, std::size_t indent) {
    text += text::wrap(printable(line), columns, indent) + "\n";
  };
  const auto [files, bytes] = amount_of(capture);
  for (const std::string& line : doctor::contents_of(capture)) add(line, 8);
  add(fmt::format("{}: {} with {} bytes", target, text::plural(files, "file"), bytes), 2);
  add("left out: serial numbers, UUIDs, and all kernel parameters, variables, log lines and files "
      "that no check needs",
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
  const std::string text =
      options.json ? to_json(capture, options.target) : describe(capture, options.target);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

void add_doctor_capture(CLI::App& doctor, Action& chosen) {
  auto options = std::make_shared<CaptureOptions>();
  CLI::App* command = doctor.add_subcommand(
      "capture", "Pack what the checks read, to be judged on another machine");
  command
      ->add_option("FILE", options->target,
                   "Archive to write, such as host.tar; a name that ends in / makes a folder")
      ->type_name("")
      ->required();
  command
      ->add_option("--root", options->root,
                   "Captured root to pack again: a folder or a tar archive (default: /)")
      ->type_name("PATH");
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  refuse_empty_values(*command);
  command->callback(
      [options, &chosen] { chosen = [options] { return capture_machine(*options); }; });
}

}  // namespace gdr::cli
