// The libraries that a process has loaded, where they tell what it could have used (libraries.h),
// by itself: for the end of its life, when `gdr run` may never have seen it.
//
//   process->libraries.fetch_or(ledger::loaded_now(), std::memory_order_relaxed);
#pragma once

#include <cstdint>

namespace gdr::ledger {

std::uint64_t loaded_now();  // Library flags

// In the ledger of `gdr run`, in a record of this process's own. Nothing if it has none of them, or
// the software NIC among them.
void testify();

}  // namespace gdr::ledger
