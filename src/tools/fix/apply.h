// Making changes and putting them back, so that at no moment a change is made that the journal does
// not hold. All of a run or none: where one fails, those before it are put back, last first.
//
//   std::vector<Step> steps = apply(changes, machine, journal);
//   std::vector<Step> steps = undo(machine, journal, {});
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fix/change.h"
#include "fix/journal.h"

namespace gdr::fix {

enum class Fate : std::uint8_t {
  kPlanned,     // not tried: a dry run, or one before it failed
  kDone,        // made, and read back
  kFailed,      // not made, or made and put back
  kRolledBack,  // made, and put back because another one failed
  kRestored,    // undone
  kGone,        // nothing to undo: never made, or cleared by a reboot
  kLeft         // neither: what is there now is not what gdr fix put there, or cannot be written
};
const char* name_of(Fate fate);

struct Step {
  Record record;
  Fate fate = Fate::kPlanned;
  std::string text;  // why; empty where the fate says it all
};
bool all_well(const std::vector<Step>& steps);

// In the order of `changes`, one step each. Their records are given boot and time here.
std::vector<Step> apply(const std::vector<const Change*>& changes, const Machine& machine,
                        Journal& journal);

// All that the journal holds, last first; where `wanted` is given, only what it chooses. Nothing is
// written where the target is not the recorded one, or holds anything but what gdr fix put there.
std::vector<Step> undo(const Machine& machine, Journal& journal,
                       const std::function<bool(const Record& record)>& wanted);

// A gdr fix was killed in the middle: begun, and neither done nor put back, in this boot.
bool is_unfinished(const Entry& entry, const Machine& machine);

}  // namespace gdr::fix
