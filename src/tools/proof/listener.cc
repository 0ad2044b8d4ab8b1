#include "proof/listener.h"

namespace gdr::proof {

void tell(const Report& report, Listener& listener) {
  listener.on_facts(report.facts);
  listener.on_inventory(report.inventory);
  if (report.other) listener.on_other_side(*report.other);
  for (const Participants& pair : report.participants) listener.on_pair(pair);
  for (const RegistrationResult& result : report.registrations) listener.on_registration(result);
  for (const Check& check : report.checks) listener.on_check(check);
  for (const Measurement& measurement : report.measurements) listener.on_measurement(measurement);
}

}  // namespace gdr::proof
