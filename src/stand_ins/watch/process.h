// This process's part of the ledger.
//
//   if (Ledger* ledger = watch::ledger()) ledger::claim_device(*ledger, device->name);
//   if (ledger::Process* own = watch::process()) own->to_gpu.fetch_add(bytes);
#pragma once

#include <cstdint>

#include "ledger/ledger.h"

namespace gdr::watch {

// Null where this process has none: then nothing is watched, and every call goes straight on.
ledger::Ledger* ledger();
// Null also where there are too many processes. A child of fork() has a record of its own.
ledger::Process* process();
std::uint32_t process_number();

}  // namespace gdr::watch
