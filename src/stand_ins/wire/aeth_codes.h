// The two five-bit codes of an AETH syndrome that stand for numbers: how long to wait after an RNR
// NAK, and how many receives the responder has left.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace gdr::wire {

// Table 45 (9.7.5.2.8).
Nanoseconds rnr_wait(std::uint8_t code);

// Table 46 (9.7.7.2.5): the greatest code that promises no more than `receives`, and back.
std::uint8_t credit_code(std::uint32_t receives);
std::uint32_t credits_of(std::uint8_t code);  // not of kNoCredits

}  // namespace gdr::wire
