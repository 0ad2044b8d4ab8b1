#include "fix/apply.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "base/kill_point.h"

namespace gdr::fix {
namespace {

std::string time_now() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool outlives_boot(const Record& record) {
  const Result<ChangePtr> change = change_of(record);
  return change && (*change)->outlives_boot();
}

bool is_of_another_boot(const Record& record, const Machine& machine) {
  return record.boot != machine.boot && !outlives_boot(record);
}

// Whether the present value is ours: undo leaves any other value alone.
enum class Owner { kMustBeOurs, kIsOurs };

// Puts the old value back, and says so in the journal.
Step restore(const Change& change, unsigned id, const Machine& machine, Journal& journal,
             Owner owner) {
  const Record& record = change.record();
  Step step{record, Fate::kLeft, {}};
  change.tidy(machine);
  const Result<Value> now = change.read(machine);
  if (!now) {
    step.text = now.error().message;
    return step;
  }
  if (*now == record.old_value) {
    step.fate = Fate::kGone;
    step.text = "it holds its old value";
  } else if (*now != record.new_value && owner == Owner::kMustBeOurs) {
    step.text = fmt::format("it holds {} now, not the value that gdr fix wrote", change.told(*now));
    return step;
  } else {
    kill_point("fix_undoing");
    const Result<void> written = change.write(machine, record.old_value);
    kill_point("fix_restored");
    const Result<Value> back = change.read(machine);
    if (!written || !back || *back != record.old_value) {
      step.text = !written ? written.error().message
                  : !back  ? back.error().message
                           : fmt::format("it still holds {}", change.told(*back));
      return step;
    }
    step.fate = Fate::kRestored;
  }
  change.tidy(machine);
  const Result<void> marked = journal.mark(id, State::kUndone);
  kill_point("fix_undone");
  // It is put back all the same; the next undo finds it so.
  if (!marked) step.text = marked.error().message;
  return step;
}

// Empty: made, read back and marked so.
std::string make(const Change& change, unsigned id, const Machine& machine, Journal& journal) {
  const Value& wanted = change.record().new_value;
  const Result<void> written = change.write(machine, wanted);
  kill_point("fix_changed");
  const Result<Value> back = change.read(machine);
  kill_point("fix_read_back");
  if (!written) return written.error().message;
  if (!back) return back.error().message;
  if (*back != wanted) {
    return fmt::format("it holds {} after {} was written", change.told(*back), change.told(wanted));
  }
  const Result<void> marked = journal.mark(id, State::kDone);
  if (!marked) return marked.error().message;
  kill_point("fix_marked");
  return {};
}

// The one that failed. What it holds now came of our own write, whatever it is.
void put_back(const Change& change, unsigned id, Step& step, const Machine& machine,
              Journal& journal) {
  const Step back = restore(change, id, machine, journal, Owner::kIsOurs);
  if (back.fate != Fate::kLeft) return;
  step.fate = Fate::kLeft;
  step.text += "; and it could not be restored: " + back.text;
}

struct Made {
  std::size_t step;
  unsigned id;
  ChangePtr change;
};

// Adds boot and time for the journal.
Result<ChangePtr> stamped(const Change& change, const Machine& machine) {
  Record record = change.record();
  record.boot = machine.boot;
  record.time = time_now();
  return change_of(record);
}

// Whether it holds what was planned from.
Result<void> check(const Change& change, const Machine& machine) {
  if (machine.boot.empty()) {
    return Error{ENOTSUP,
                 "/proc/sys/kernel/random/boot_id is missing, so gdr could not tell later whether "
                 "a reboot has cleared this change"};
  }
  const Result<Value> now = change.read(machine);
  if (!now) return now.error();
  if (*now == change.record().old_value) return {};
  return Error{EBUSY, fmt::format("it holds {} now, but held {} a moment ago", change.told(*now),
                                  change.told(change.record().old_value))};
}

// In the journal, and from here on somebody must put it back. Looked at on both sides of that,
// since a disk takes its time and the value may be the kernel's to change.
Result<unsigned> begin(const Change& change, const Machine& machine, Journal& journal) {
  if (const Result<void> fit = check(change, machine); !fit) return fit.error();
  Result<unsigned> id = journal.begin(change.record());
  if (!id) return id;
  kill_point("fix_journalled");
  const Result<void> still_fit = check(change, machine);
  if (still_fit) return id;
  const Result<void> marked = journal.mark(*id, State::kUndone);
  return marked ? still_fit.error() : marked.error();
}

void roll_back(std::vector<Made>& made, std::vector<Step>& steps, const Machine& machine,
               Journal& journal) {
  for (auto it = made.rbegin(); it != made.rend(); ++it) {
    const Step back = restore(*it->change, it->id, machine, journal, Owner::kMustBeOurs);
    steps[it->step].fate = back.fate == Fate::kLeft ? Fate::kLeft : Fate::kRolledBack;
    steps[it->step].text = back.text;
  }
}

}  // namespace

const char* name_of(Fate fate) {
  constexpr const char* kNames[] = {"planned",  "done", "failed", "rolled back",
                                    "restored", "gone", "left"};
  return kNames[static_cast<std::size_t>(fate)];
}

bool all_well(const std::vector<Step>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.fate == Fate::kDone || step.fate == Fate::kRestored || step.fate == Fate::kGone;
  });
}

std::vector<Step> apply(const std::vector<const Change*>& changes, const Machine& machine,
                        Journal& journal) {
  std::vector<Step> steps;
  for (const Change* change : changes) steps.push_back({change->record(), Fate::kPlanned, {}});
  std::vector<Made> made;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Result<ChangePtr> change = stamped(*changes[i], machine);
    const Result<unsigned> id =
        change ? begin(**change, machine, journal) : Result<unsigned>(change.error());
    steps[i].text = id ? make(**change, *id, machine, journal) : id.error().message;
    if (id && steps[i].text.empty()) {
      steps[i].fate = Fate::kDone;
      made.push_back({i, *id, *std::move(change)});
      continue;
    }
    steps[i].fate = Fate::kFailed;
    if (id) put_back(**change, *id, steps[i], machine, journal);
    roll_back(made, steps, machine, journal);
    break;
  }
  return steps;
}

std::vector<Step> undo(const Machine& machine, Journal& journal,
                       const std::function<bool(const Record& record)>& wanted) {
  std::vector<Step> steps;
  const std::vector<Entry> entries = journal.entries();  // restoring marks them
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const Record& record = entry->record;
    if (entry->state == State::kUndone || (wanted && !wanted(record))) continue;
    const Result<ChangePtr> change = change_of(record);
    if (!change) {
      steps.push_back({record, Fate::kLeft, change.error().message});
    } else if (is_of_another_boot(record, machine)) {
      const Result<void> marked = journal.mark(entry->id, State::kUndone);
      steps.push_back(
          {record, Fate::kGone, marked ? "the last reboot cleared it" : marked.error().message});
    } else {
      steps.push_back(restore(**change, entry->id, machine, journal, Owner::kMustBeOurs));
    }
  }
  return steps;
}

bool is_unfinished(const Entry& entry, const Machine& machine) {
  return entry.state == State::kBegun && !is_of_another_boot(entry.record, machine);
}

}  // namespace gdr::fix
