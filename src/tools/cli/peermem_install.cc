// gdr peermem install, and remove: through the engine and the journal of gdr fix.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/command_line.h"
#include "cli/fix_journal.h"
#include "cli/help.h"
#include "cli/peermem_commands.h"
#include "cli/this_host.h"
#include "fix/apply.h"
#include "fix/changes/stored_module.h"
#include "fix/report.h"
#include "peermem/install.h"
#include "process/trust.h"

namespace gdr::cli {
namespace {

struct InstallOptions : PeermemOptions {
  peermem::InstallOrder order;
  bool is_named = false;  // the file
  std::string journal = kJournalFolder;
};

struct RemoveOptions {
  std::string journal = kJournalFolder;
  bool json = false;
};

int fail(const char* command, const std::string& reason, int status = kFailed) {
  say(fmt::format("gdr peermem {}: {}", command, reason));
  return status;
}

int print(bool json, const fix::Report& report) {
  const std::string text =
      json ? fix::to_json(report, provenance()) : fix::to_text(report, text::Style::of(stdout));
  std::fputs(text.c_str(), stdout);
  return report.exit_status();
}

fix::Report report_of(const std::string& command, const std::string& journal, fix::Mode mode) {
  fix::Report report;
  report.mode = mode;
  report.tool = "gdr peermem " + command;
  report.undo = text::Command("sudo gdr peermem remove");
  report.journal_file = fix::journal_file(journal);
  return report;
}

text::Command command_of(const InstallOptions& options) {
  return text::Command("sudo gdr peermem install {}", options.order.file);
}

int dry_run(const InstallOptions& options, const peermem::Survey& survey,
            const peermem::Prepared& prepared) {
  fix::Report report = report_of("install", options.journal, fix::Mode::kDryRun);
  report.captured = options.root == "/" ? "" : options.root;
  report.command = command_of(options);
  const fix::Machine machine =
      options.root == "/" ? fix::this_machine() : fix::captured_machine(options.root);
  report.plan.push_back(peermem::plan_install(machine, survey, prepared));
  return print(options.json, report);
}

int apply(const InstallOptions& options, const peermem::Survey& survey,
          const peermem::Prepared& prepared) {
  const fix::Machine machine = fix::this_machine();
  Result<fix::Journal> journal = fix::Journal::open(options.journal);
  if (!journal) return fail("install", journal.error().message);
  fix::Report report = report_of("install", options.journal, fix::Mode::kApply);
  const std::string reason = obstacle(*journal, machine, report.journal_file);
  if (!reason.empty()) return fail("install", reason);
  if (const Result<void> tidied = journal->tidy(); !tidied) {
    return fail("install", tidied.error().message);
  }
  if (const Result<void> kept = fix::store_module(machine, prepared.bytes); !kept) {
    return fail("install", kept.error().message);
  }
  report.plan.push_back(peermem::plan_install(machine, survey, prepared));
  const fix::Proposal& proposal = report.plan.front();
  std::vector<const fix::Change*> changes;
  for (const fix::Planned& planned : proposal.changes) changes.push_back(planned.change.get());
  // All of it or nothing.
  if (!proposal.is_refused()) report.steps = fix::apply(changes, machine, *journal);
  fix::tidy_store(machine, journal->content());
  return print(options.json, report);
}

// Another account may have put a module into the current folder, under the usual name, for root to
// find.
Result<void> check_owner(const InstallOptions& options) {
  if (options.is_named || geteuid() != 0) return {};
  const auto stranger = process::who_else_can_change(options.order.file);
  if (!stranger) return {};
  const text::Command named("gdr peermem install ./{}", options.order.file);
  return Error{EPERM, fmt::format("{} is not installed unless you name it, since {}; type: {}",
                                  options.order.file, stranger->text(), named.text())};
}

int install(const InstallOptions& options) {
  if (const Result<void> owned = check_owner(options); !owned) {
    return fail("install", owned.error().message, kWrongUse);
  }
  const Result<peermem::Installable> module = peermem::read_module_to_install(options.order.file);
  if (!module) return fail("install", module.error().message, kWrongUse);
  const bool dry = options.order.dry_run || options.root != "/";
  if (!dry && !fix::this_machine().superuser) {
    return fail("install", "changing this machine needs root: " + command_of(options).text());
  }
  const Result<peermem::Survey> survey = take_survey(options);
  if (!survey) return fail("install", survey.error().message, kWrongUse);
  peermem::InstallOrder order = options.order;
  order.headers = options.choices.headers;
  order.dry_run = dry;
  const Result<peermem::Prepared> prepared =
      peermem::prepare_install(host::Files(options.root), *survey, order, peermem::this_workshop());
  if (!prepared) return fail("install", prepared.error().message);
  return dry ? dry_run(options, *survey, *prepared) : apply(options, *survey, *prepared);
}

int remove(const RemoveOptions& options) {
  const fix::Machine machine = fix::this_machine();
  if (!machine.superuser) {
    return fail("remove", "changing this machine needs root: sudo gdr peermem remove");
  }
  Result<fix::Journal> journal = fix::Journal::open(options.journal);
  if (!journal) return fail("remove", journal.error().message);
  fix::Report report = report_of("remove", options.journal, fix::Mode::kUndo);
  report.steps = fix::undo(machine, *journal, fix::is_of_peermem);
  report.journal = journal->content();
  if (const Result<void> tidied = journal->tidy(); !tidied) {
    return fail("remove", tidied.error().message);
  }
  fix::tidy_store(machine, journal->content());
  return print(options.json, report);
}

void add_journal(CLI::App& command, std::string& journal) {
  command
      .add_option("--journal", journal,
                  std::string("Folder of the journal (default: ") + kJournalFolder + ")")
      ->type_name("DIR");
}

void check_journal(const std::string& journal) {
  if (journal.starts_with("/")) return;
  throw CLI::ValidationError("--journal needs an absolute path, such as /var/lib/gdrkit/fix");
}

}  // namespace

void add_peermem_install(CLI::App& peermem, Action& chosen) {
  auto options = std::make_shared<InstallOptions>();
  options->order.file = kBuiltModule;
  CLI::App* command =
      peermem.add_subcommand("install", "Verify, sign and install a built module, undoably");
  command
      ->add_option_function<std::string>(
          "FILE",
          [options](const std::string& file) {
            options->order.file = file;
            options->is_named = true;
          },
          std::string("The module (default: ") + kBuiltModule + ")")
      ->type_name("");
  add_peermem_options(*command, *options);
  begin_group(*command, "Installing");
  command->add_flag("--dry-run", options->order.dry_run, "Show the changes, make none");
  command
      ->add_option("--key", options->order.key,
                   "Private key to sign with (default: that of DKMS, where there is one)")
      ->type_name("FILE");
  command->add_option("--cert", options->order.certificate, "Certificate of --key")
      ->type_name("FILE");
  add_journal(*command, options->journal);
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  refuse_empty_values(*command);
  command->callback([options, &chosen] {
    check_peermem_options(*options);
    check_journal(options->journal);
    if (options->order.key.empty() != options->order.certificate.empty()) {
      throw CLI::ValidationError("--key and --cert belong together; give both");
    }
    chosen = [options] { return install(*options); };
  });
}

void add_peermem_remove(CLI::App& peermem, Action& chosen) {
  auto options = std::make_shared<RemoveOptions>();
  CLI::App* command =
      peermem.add_subcommand("remove", "Put back what gdr peermem install has changed");
  add_journal(*command, options->journal);
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  refuse_empty_values(*command);
  command->callback([options, &chosen] {
    check_journal(options->journal);
    chosen = [options] { return remove(*options); };
  });
}

}  // namespace gdr::cli
