// Listener: told what the proof finds while it goes on, so that a person sees each line as it
// comes.
#pragma once

#include <string>

#include "proof/report.h"

namespace gdr::proof {

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void on_inventory(const InventoryReport&) {}
  virtual void on_registration(const RegistrationResult&) {}
  virtual void on_check(const Check&) {}
  virtual void on_measurement(const Measurement&) {}
  // `done` of `total` transfers of what is being proved.
  virtual void on_progress(const std::string& /*what*/, unsigned /*done*/, unsigned /*total*/) {}
};

}  // namespace gdr::proof
