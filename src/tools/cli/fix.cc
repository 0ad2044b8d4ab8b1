// gdr fix: shows, applies and undoes the fixes for what gdr doctor finds.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/command_line.h"
#include "cli/fix_journal.h"
#include "cli/help.h"
#include "cli/machine_options.h"
#include "cli/subcommands.h"
#include "cli/this_host.h"
#include "fix/apply.h"
#include "fix/changes/stored_module.h"
#include "fix/plan.h"
#include "fix/report.h"
#include "host/source/source.h"

namespace gdr::cli {
namespace {

struct FixOptions {
  fix::Wishes wishes;
  bool apply = false, undo = false, status = false, json = false;
  std::string root = "/";
  std::string journal = kJournalFolder;
};

void check_topics(const FixOptions& options) {
  for (const std::string& topic : options.wishes.topics) {
    const auto& all = fix::all_topics();
    if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return topic == one.id; })) {
      throw CLI::ValidationError(
          fmt::format("unknown topic '{}'; allowed: {}", topic, fix::topic_names()));
    }
  }
}

// Every value is judged here, so that wrong use costs nothing but its one line.
void check_values(FixOptions& options) {
  check_topics(options);
  fix::Wishes& wishes = options.wishes;
  if (int{options.apply} + int{options.undo} + int{options.status} > 1) {
    throw CLI::ValidationError("--apply, --undo and --status exclude each other");
  }
  if (options.root != "/" && (options.apply || options.undo || options.status)) {
    throw CLI::ValidationError(
        "--root shows a captured machine, which cannot be changed; leave out --apply, --undo and "
        "--status");
  }
  if ((options.undo || options.status) &&
      (wishes.persist || wishes.emulated || !wishes.ports.empty())) {
    throw CLI::ValidationError(
        "--undo and --status act on the journal alone; leave out --persist, --port and --emulated");
  }
  if (options.status && !wishes.topics.empty()) {
    throw CLI::ValidationError("--status shows the whole journal; leave out the topic");
  }
  if (options.journal.front() != '/') {
    throw CLI::ValidationError("--journal needs an absolute path, such as /var/lib/gdrkit/fix");
  }
  check_driver_root(wishes.driver_root, options.root);
  for (const std::string& port : wishes.ports) {
    if (!host::is_pci_address(port)) {
      throw CLI::ValidationError(
          fmt::format("--port needs a PCI address such as 0000:18:00.0, not '{}'", port));
    }
  }
  if (wishes.ports.empty()) return;
  if (wishes.topics.empty()) wishes.topics = {"acs"};
  if (wishes.topics != std::vector<std::string>{"acs"}) {
    throw CLI::ValidationError("--port works with topic acs only");
  }
}

int fail(const std::string& reason) {
  say("gdr fix: " + reason);
  return kFailed;
}

// The command that would apply what was shown.
text::Command command_of(const FixOptions& options) {
  text::Command command("sudo gdr fix");
  for (const std::string& topic : options.wishes.topics) command.with(text::Command("{}", topic));
  for (const std::string& port : options.wishes.ports) {
    command.with(text::Command("--port {}", port));
  }
  if (options.wishes.emulated) command.with(text::Command("--emulated"));
  if (!options.wishes.driver_root.empty()) {
    command.with(text::Command("--driver-root {}", options.wishes.driver_root));
  }
  if (options.wishes.persist) command.with(text::Command("--persist"));
  return command.with(text::Command("--apply"));
}

int print(const FixOptions& options, const fix::Report& report) {
  const std::string text = options.json ? fix::to_json(report, provenance())
                                        : fix::to_text(report, text::Style::of(stdout));
  std::fputs(text.c_str(), stdout);
  return report.exit_status();
}

fix::Report report_of(const FixOptions& options, fix::Mode mode) {
  fix::Report report;
  report.mode = mode;
  report.command = command_of(options);
  report.captured = options.root == "/" ? "" : options.root;
  report.journal_file = fix::journal_file(options.journal);
  return report;
}

int dry_run(const FixOptions& options) {
  host::Source source;
  source.root = options.root;
  const Result<host::Inventory> inventory = host::read_inventory(source);
  if (!inventory) {
    say("gdr fix: " + inventory.error().message);
    return kWrongUse;
  }
  fix::Report report = report_of(options, fix::Mode::kDryRun);
  const bool live = source.is_live();
  const fix::Machine machine = live ? fix::this_machine() : fix::captured_machine(options.root);
  // Only root may read the journal.
  if (const auto journal = fix::read_journal(options.journal); live && journal) {
    report.journal = *journal;
  }
  report.plan = fix::make_plan({machine, *inventory, report.journal, options.wishes});
  return print(options, report);
}

int apply(const FixOptions& options) {
  const fix::Machine machine = fix::this_machine();
  if (!machine.superuser) {
    return fail("changing this machine needs root: " + command_of(options).text());
  }
  Result<fix::Journal> journal = fix::Journal::open(options.journal);
  if (!journal) return fail(journal.error().message);
  fix::Report report = report_of(options, fix::Mode::kApply);
  const std::string reason = obstacle(*journal, machine, report.journal_file);
  if (!reason.empty()) return fail(reason);
  if (const Result<void> tidied = journal->tidy(); !tidied) return fail(tidied.error().message);

  const host::Inventory inventory = host::take_inventory("/");
  report.plan = fix::make_plan({machine, inventory, journal->content(), options.wishes});
  std::vector<const fix::Change*> changes;
  for (const fix::Proposal& proposal : report.plan) {
    for (const fix::Planned& planned : proposal.changes) {
      if (planned.refusal.empty()) changes.push_back(planned.change.get());
    }
  }
  report.steps = fix::apply(changes, machine, *journal);
  return print(options, report);
}

int undo(const FixOptions& options) {
  const fix::Machine machine = fix::this_machine();
  if (!machine.superuser) return fail("undoing changes needs root: sudo gdr fix --undo");
  Result<fix::Journal> journal = fix::Journal::open(options.journal);
  if (!journal) return fail(journal.error().message);
  fix::Report report = report_of(options, fix::Mode::kUndo);
  report.steps = fix::undo(machine, *journal, [&](const fix::Record& record) {
    return options.wishes.topics.empty() || options.wishes.named(fix::topic_of(record));
  });
  report.journal = journal->content();
  if (const Result<void> tidied = journal->tidy(); !tidied) return fail(tidied.error().message);
  fix::tidy_store(machine, journal->content());
  return print(options, report);
}

int status(const FixOptions& options) {
  fix::Report report = report_of(options, fix::Mode::kStatus);
  Result<fix::JournalContent> journal = fix::read_journal(options.journal);
  if (!journal) return fail(journal.error().message);
  report.journal = *std::move(journal);
  report.boot = fix::this_machine().boot;
  return print(options, report);
}

int run_fix(const FixOptions& options) {
  if (options.apply) return apply(options);
  if (options.undo) return undo(options);
  return options.status ? status(options) : dry_run(options);
}

}  // namespace

void add_fix(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<FixOptions>();
  CLI::App* command = program.add_subcommand("fix", "Show, apply or undo fixes");
  command
      ->add_option("TOPIC", options->wishes.topics,
                   fix::topic_names() + " (default: all that this machine needs)")
      ->type_name("");
  begin_group(*command, "Action");
  command->add_flag("--apply", options->apply, "Make the changes (default: only show them)");
  command->add_flag("--persist", options->wishes.persist,
                    "Also write files and services, so that the changes survive a reboot");
  command->add_flag("--undo", options->undo, "Restore what the journal holds, last change first");
  command->add_flag("--status", options->status, "Show the journal");
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  begin_group(*command, "Machine");
  command
      ->add_option("--port", options->wishes.ports,
                   "For acs: change only this downstream or root port; may be repeated")
      ->type_name("ADDRESS")
      ->allow_extra_args(false);
  command->add_flag("--emulated", options->wishes.emulated,
                    "For acs: allow changes in a virtual machine whose PCI tree is emulated");
  add_driver_root(*command, options->wishes.driver_root);
  command
      ->add_option("--journal", options->journal,
                   "Folder of the journal (default: /var/lib/gdrkit/fix)")
      ->type_name("DIR");
  command
      ->add_option("--root", options->root,
                   "Show the fixes for a captured root: a folder that holds sys and proc, or a tar "
                   "archive of it (default: /, this machine)")
      ->type_name("PATH");
  refuse_empty_values(*command);
  command->callback([options, &chosen] {
    check_values(*options);
    chosen = [options] { return run_fix(*options); };
  });
}

}  // namespace gdr::cli
