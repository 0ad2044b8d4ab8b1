// Listener: told what the proof finds while it goes on, so that a person sees each line as it
// comes.
#pragma once

#include <string>

#include "proof/report.h"

namespace gdr::proof {

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void on_facts(const RunFacts&) {}
  virtual void on_inventory(const InventoryReport&) {}
  // After on_inventory(), where B is on another host.
  virtual void on_other_side(const OtherSide&) {}
  // These take part from here on.
  virtual void on_pair(const Participants&) {}
  virtual void on_registration(const RegistrationResult&) {}
  virtual void on_check(const Check&) {}
  virtual void on_measurement(const Measurement&) {}
  // `done` of `total` parts of the work on one line; their size means nothing else.
  virtual void on_progress(const std::string& /*what*/, std::uint64_t /*done*/,
                           std::uint64_t /*total*/) {}
};

// All that a report has, as it is told while a proof goes on.
void tell(const Report& report, Listener& listener);

}  // namespace gdr::proof
