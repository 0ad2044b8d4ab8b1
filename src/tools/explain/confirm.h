// Whether this host has what a text shows: the checks of the symptoms that were recognised, by
// `gdr doctor`, those that only read files.
//
//   const Confirmations confirmations = confirm(explanation, host);
#pragma once

#include "doctor/host.h"
#include "explain/confirmation.h"
#include "explain/recogniser.h"

namespace gdr::explain {

// Skips symptoms that follow from another one. Runs each check once.
Confirmations confirm(const Explanation& explanation, const doctor::Host& host);

}  // namespace gdr::explain
