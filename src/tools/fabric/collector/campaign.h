// Campaign: which round comes next: those of the schedule, then suspects against hosts known to be
// good. Decided by what was measured so far; no I/O, no clock.
//
//   campaign.begin(report);                      // hosts and rails are known
//   while (std::optional<Round> round = campaign.next(report)) ...
#pragma once

#include <optional>

#include "fabric/report.h"
#include "fabric/round.h"

namespace gdr::fabric {

class Campaign {
 public:
  virtual ~Campaign() = default;

  // Hosts whose state is kThere take part. Fills what the report says of the plan.
  virtual void begin(Report& report) = 0;
  // Nothing: the run is over. Hosts that were lost meanwhile may still be in it.
  virtual std::optional<Round> next(Report& report) = 0;
  // Fills the report's fleet and findings from what was measured.
  virtual void judge(Report& report) = 0;
};

}  // namespace gdr::fabric
