#include <fmt/format.h>

#include <algorithm>

#include "base/environment.h"
#include "fix/changes/text_file.h"
#include "fix/report.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::fix {
namespace {

using text::Colour;
using text::plural;

constexpr std::size_t kLabel = 6;

class Page {
 public:
  explicit Page(const text::Style& style) : style_(style) {}

  void line(const std::string& text = {}, std::size_t indent = 2) {
    text_ += text::wrap(text, style_.columns, indent) + "\n";
  }
  // "    old   0x001d (source validation, …)"
  void field(const std::string& label, const std::string& value, std::size_t indent = 4) {
    line(std::string(indent, ' ') + text::pad(label, kLabel) + printable(value), indent + kLabel);
  }
  void command(const std::string& label, const text::Command& command) {
    text_ += "    " + text::pad(label, kLabel) + command.text() + "\n";
  }
  // Each on a line of its own that nothing breaks: what is copied is what runs.
  void commands(const text::Command& command) {
    for (std::string_view one : split(command.text(), '\n')) {
      text_ += "    " + std::string(one) + "\n";
    }
  }
  void topic(const std::string& id, const std::string& title) {
    line(text::paint(style_, Colour::kBold, id) + ": " + title);
  }
  std::string painted(Colour colour, const std::string& text) const {
    return text::paint(style_, colour, text);
  }
  std::string take() { return std::move(text_); }

 private:
  const text::Style& style_;
  std::string text_;
};

Colour colour_of(Fate fate) {
  if (fate == Fate::kDone || fate == Fate::kRestored) return Colour::kGreen;
  return fate == Fate::kFailed || fate == Fate::kLeft ? Colour::kRed : Colour::kYellow;
}

std::string told(Fate fate) {
  switch (fate) {
    case Fate::kPlanned:
      return "not tried";
    case Fate::kDone:
      return "done: written and read back";
    case Fate::kFailed:
      return "failed; nothing changed";
    case Fate::kRolledBack:
      return "rolled back because another change failed";
    case Fate::kRestored:
      return "restored: the old value is back";
    case Fate::kGone:
      return "nothing to undo";
    case Fate::kLeft:
      return "LEFT unchanged";
  }
  return {};
}

void print_fate(const Step& step, Page& page) {
  std::string text = page.painted(colour_of(step.fate), told(step.fate));
  if (!step.text.empty()) text += ": " + printable(step.text);
  page.line("    => " + text, 7);
}

void print_values(const Change& change, Page& page) {
  page.field("old", change.told(change.record().old_value));
  page.field("new", change.told(change.record().new_value));
}

void print_change(const Planned& planned, const Step* step, const text::Command& undo, Page& page) {
  const Change& change = *planned.change;
  page.line("  " + printable(change.where()), 4);
  print_values(change, page);
  const text::Command by_hand = change.undo_command();
  page.command("undo", undo);
  if (!by_hand.empty()) page.command("or", text::Command("sudo {}", by_hand));
  if (!planned.refusal.empty()) {
    page.line("    => " + page.painted(Colour::kRed, "refused") + ": " + printable(planned.refusal),
              7);
  }
  if (step != nullptr) print_fate(*step, page);
}

void print_to_type(const ToType& one, Page& page) {
  page.line("  to type:" + (one.note.empty() ? "" : " " + printable(one.note)), 4);
  page.commands(one.command);
}

void print_plan(const Report& report, Page& page) {
  auto step = report.steps.begin();
  for (const Proposal& proposal : report.plan) {
    page.line();
    page.topic(proposal.topic, proposal.title);
    for (const Planned& planned : proposal.changes) {
      const bool tried = planned.refusal.empty() && step != report.steps.end();
      print_change(planned, tried ? &*step++ : nullptr, report.undo, page);
    }
    for (const std::string& refusal : proposal.refusals) {
      page.line("  " + page.painted(Colour::kRed, "refused") + ": " + printable(refusal), 4);
    }
    if (!proposal.nothing.empty()) page.line("  nothing to do: " + proposal.nothing, 4);
    for (const std::string& note : proposal.notes) page.line("  " + printable(note), 2);
    for (const ToType& one : proposal.commands) print_to_type(one, page);
  }
  page.line();
}

struct Counts {
  std::size_t free = 0, refused = 0;
};

Counts count(const Report& report) {
  Counts counts;
  for (const Proposal& proposal : report.plan) {
    counts.refused += proposal.refusals.size();
    for (const Planned& planned : proposal.changes) {
      ++(planned.refusal.empty() ? counts.free : counts.refused);
    }
  }
  return counts;
}

void print_dry_run(const Report& report, Page& page) {
  const std::string where =
      report.captured.empty() ? "this machine" : "the captured machine " + report.captured;
  page.line("Dry run on " + printable(where) + ": nothing changes.");
  print_plan(report, page);
  const Counts counts = count(report);
  std::string line = plural(counts.free, "change") + " planned";
  if (counts.refused > 0) line += ", " + std::to_string(counts.refused) + " refused";
  if (counts.free > 0 && report.captured.empty()) line += "; to apply: " + report.command.text();
  page.line(line);
  const auto& entries = report.journal.entries;
  if (!entries.empty()) {
    page.line(plural(entries.size(), "change") +
              " from earlier runs in the journal: gdr fix --status");
  }
}

void print_applied(const Report& report, Page& page) {
  page.line("Changing this machine; journal: " + printable(report.journal_file));
  print_plan(report, page);
  const auto done = static_cast<std::size_t>(
      std::count_if(report.steps.begin(), report.steps.end(),
                    [](const Step& step) { return step.fate == Fate::kDone; }));
  const std::size_t refused = count(report).refused;
  std::string line = plural(done, "change") + " made";
  if (done < report.steps.size())
    line = "FAILED: see above; all changes of this run were rolled back";
  if (refused > 0) line += ", " + std::to_string(refused) + " refused";
  if (done > 0) line += "; to undo: " + report.undo.text();
  page.line(line);
}

void print_record(const Record& record, Page& page) {
  const Result<ChangePtr> change = change_of(record);
  if (!change) {
    page.line("  " + printable(record.kind + " " + record.target), 4);
    return;
  }
  page.line("  " + printable((*change)->where()), 4);
  print_values(**change, page);
}

void print_lines_not_understood(const Report& report, Page& page) {
  for (const unsigned number : report.journal.not_understood) {
    page.line(
        fmt::format("gdr fix did not write line {} of {} and leaves it alone; move the file away "
                    "when you no longer need it.",
                    number, printable(report.journal_file)));
  }
}

void print_undone(const Report& report, Page& page) {
  for (const Step& step : report.steps) {
    print_record(step.record, page);
    print_fate(step, page);
  }
  print_lines_not_understood(report, page);
  if (report.steps.empty()) page.line("Nothing to undo.");
  const bool boot = std::any_of(report.steps.begin(), report.steps.end(), [](const Step& step) {
    return step.record.target == kGrubFile && step.fate == Fate::kRestored;
  });
  if (boot) page.line("To restore the old boot parameters, run update-grub and reboot.");
}

void print_status(const Report& report, Page& page) {
  page.line("Journal " + printable(report.journal_file) + ": " +
            plural(report.journal.entries.size(), "change"));
  for (const Entry& entry : report.journal.entries) {
    print_record(entry.record, page);
    std::string state = name_of(entry.state);
    if (entry.state == State::kBegun) state = "started, then killed; run gdr fix --undo";
    page.field("state", state);
    page.field("made",
               entry.record.time + (entry.record.boot == report.boot ? ", in this boot"
                                                                     : ", before the last reboot"));
  }
  print_lines_not_understood(report, page);
}

}  // namespace

std::string to_text(const Report& report, const text::Style& style) {
  Page page(style);
  if (report.mode == Mode::kDryRun) print_dry_run(report, page);
  if (report.mode == Mode::kApply) print_applied(report, page);
  if (report.mode == Mode::kUndo) print_undone(report, page);
  if (report.mode == Mode::kStatus) print_status(report, page);
  return page.take();
}

}  // namespace gdr::fix
