// ModeSummary: the checks of one mode between the same ports, all directions together: one line of
// the brief report.
//
//   ModeSummary mode;
//   if (!mode.takes(check)) { show(mode); mode = {}; }
//   mode.add(check);
#pragma once

#include <string>
#include <vector>

#include "proof/report.h"

namespace gdr::proof {

class ModeSummary {
 public:
  // Whether `check` is of the same mode and path as those before it.
  bool takes(const Check& check) const;
  void add(Check check) { checks_.push_back(std::move(check)); }

  bool empty() const { return checks_.empty(); }
  const std::vector<Check>& checks() const { return checks_; }
  // One line says it all: every direction is proved, or none is, for the same reason.
  bool is_uniform() const;
  unsigned transfers() const;
  std::uint64_t least() const;
  std::uint64_t most() const;

 private:
  std::vector<Check> checks_;
};

// "2 of 19 failed; 65 B at offset 3: the data is displaced by +65536 bytes"
std::string failure_text(const Check& check);

// All checks of a report, in their order.
std::vector<ModeSummary> summaries_of(const std::vector<Check>& checks);

}  // namespace gdr::proof
