// What gdr fix found, did or undid, as text for a terminal or as one JSON document.
#pragma once

#include <string>
#include <vector>

#include "fix/apply.h"
#include "fix/journal.h"
#include "fix/plan.h"
#include "text/command.h"
#include "text/envelope.h"
#include "text/style.h"

namespace gdr::fix {

enum class Mode : std::uint8_t { kDryRun, kApply, kUndo, kStatus };

struct Report {
  Mode mode = Mode::kDryRun;
  std::string tool = "gdr fix";
  text::Command undo{"sudo gdr fix --undo"};
  text::Command command;       // what makes the planned changes: "sudo gdr fix acs --apply"
  std::string captured;        // the folder of a captured machine; empty: this one
  std::vector<Proposal> plan;  // of a dry run, and of what was applied
  // Steps of the changes in `plan` that were not refused, in their order; for an undo, last first.
  std::vector<Step> steps;
  JournalContent journal;
  std::string journal_file;
  std::string boot;  // of this boot

  int exit_status() const;
};

std::string to_text(const Report& report, const text::Style& style);
std::string to_json(const Report& report, const text::Provenance& provenance = {});

}  // namespace gdr::fix
