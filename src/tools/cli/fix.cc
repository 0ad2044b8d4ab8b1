// gdr fix: sets right what gdr doctor finds wrong, step by step and back again.
#include <fmt/format.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/machine_options.h"
#include "cli/subcommands.h"
#include "fix/apply.h"
#include "fix/plan.h"
#include "fix/report.h"
#include "host/source/source.h"

namespace gdr::cli {
namespace {

struct FixOptions {
  fix::Wishes wishes;
  bool apply = false, undo = false, status = false, json = false;
  std::string root = "/";
  std::string journal = "/var/lib/gdrkit/fix";
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
    throw CLI::ValidationError("--root is for a captured machine, where nothing can be changed");
  }
  if ((options.undo || options.status) &&
      (wishes.persist || wishes.emulated || !wishes.ports.empty())) {
    throw CLI::ValidationError(
        "--undo and --status take what the journal holds, and neither "
        "--persist nor --port nor --emulated");
  }
  if (options.status && !wishes.topics.empty()) {
    throw CLI::ValidationError("--status shows the whole journal, and takes no topic");
  }
  if (options.journal.front() != '/') {
    throw CLI::ValidationError("--journal takes a path from the root, as in /var/lib/gdrkit/fix");
  }
  check_driver_root(wishes.driver_root, options.root);
  for (const std::string& port : wishes.ports) {
    if (!host::is_pci_address(port)) {
      throw CLI::ValidationError(
          fmt::format("--port takes a PCI address as in 0000:18:00.0, not '{}'", port));
    }
  }
  if (wishes.ports.empty()) return;
  if (wishes.topics.empty()) wishes.topics = {"acs"};
  if (wishes.topics != std::vector<std::string>{"acs"}) {
    throw CLI::ValidationError("--port goes with acs alone");
  }
}

int fail(const std::string& reason) {
  say("gdr fix: " + reason);
  return kFailed;
}

// What was typed, and what would carry it out.
std::string command_of(const FixOptions& options) {
  std::string command = "sudo gdr fix";
  for (const std::string& topic : options.wishes.topics) command += " " + topic;
  for (const std::string& port : options.wishes.ports) command += " --port " + port;
  if (options.wishes.emulated) command += " --emulated";
  if (!options.wishes.driver_root.empty()) {
    command += " --driver-root " + options.wishes.driver_root;
  }
  if (options.wishes.persist) command += " --persist";
  return command + " --apply";
}

int print(const FixOptions& options, const fix::Report& report) {
  const std::string text =
      options.json ? fix::to_json(report) : fix::to_text(report, text::Style::of(stdout));
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return fail("cannot write to standard output");
  }
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
  // Whoever may not see the journal is not told of it.
  if (const auto journal = fix::read_journal(options.journal); live && journal) {
    report.journal = *journal;
  }
  report.plan = fix::make_plan({machine, *inventory, report.journal, options.wishes});
  return print(options, report);
}

// One line that says what stands in the way of changing anything; empty: nothing.
std::string obstacle(const fix::Journal& journal, const fix::Machine& machine,
                     const std::string& file) {
  if (!journal.content().not_understood.empty()) {
    return fmt::format("line {} of the journal {} is not gdr fix's; type gdr fix --status",
                       journal.content().not_understood.front(), file);
  }
  for (const fix::Entry& entry : journal.entries()) {
    if (fix::is_unfinished(entry, machine)) {
      return fmt::format(
          "an earlier gdr fix was killed while it changed {}; type sudo gdr fix "
          "--undo, or --status to see more",
          entry.record.target);
    }
  }
  return {};
}

int apply(const FixOptions& options) {
  const fix::Machine machine = fix::this_machine();
  if (!machine.superuser) return fail("changing this machine takes root; " + command_of(options));
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
  if (!machine.superuser) return fail("undoing changes takes root; sudo gdr fix --undo");
  Result<fix::Journal> journal = fix::Journal::open(options.journal);
  if (!journal) return fail(journal.error().message);
  fix::Report report = report_of(options, fix::Mode::kUndo);
  report.steps = fix::undo(machine, *journal, [&](const fix::Record& record) {
    return options.wishes.topics.empty() || options.wishes.named(fix::topic_of(record));
  });
  report.journal = journal->content();
  if (const Result<void> tidied = journal->tidy(); !tidied) return fail(tidied.error().message);
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
  CLI::App* command = program.add_subcommand("fix", "Set this machine right, and back again");
  command
      ->add_option("TOPIC", options->wishes.topics,
                   "Of " + fix::topic_names() + " (default: all, as far as they are needed)")
      ->type_name("");
  command->add_flag("--apply", options->apply, "Make the changes (default: only show them)");
  command->add_flag("--persist", options->wishes.persist,
                    "Also files and services for the boots to come");
  command->add_flag("--undo", options->undo, "Put back what the journal holds, last first");
  command->add_flag("--status", options->status, "What the journal holds");
  command
      ->add_option("--port", options->wishes.ports,
                   "For acs: exactly this downstream or root port; may be given again")
      ->type_name("ADDRESS")
      ->allow_extra_args(false);
  command->add_flag("--emulated", options->wishes.emulated,
                    "This virtual machine's PCI tree is emulated, without hardware behind it");
  command
      ->add_option("--root", options->root,
                   "A captured machine: its folder with sys and proc, or a tar archive")
      ->type_name("PATH");
  command
      ->add_option("--journal", options->journal,
                   "Where changes are written down (default: /var/lib/gdrkit/fix)")
      ->type_name("DIR");
  add_driver_root(*command, options->wishes.driver_root);
  command->add_flag("--json", options->json, "One JSON document instead of text");
  refuse_empty_values(*command);
  command->footer(
      "Exit status: 0 done, or nothing to do; 1 a change is refused, or failed and was\n"
      "rolled back; 2 wrong use.");
  command->callback([options, &chosen] {
    check_values(*options);
    chosen = [options] { return run_fix(*options); };
  });
}

}  // namespace gdr::cli
