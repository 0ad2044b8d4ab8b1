// Usage: what this process did with the software NIC, for the line that `gdr run` prints at the end
// of a program. Without the variable that names its ledger, nothing is counted.
//
//   context->usage = usage::opened("soft0");
//   qp->record = usage::made_queue_pair(context->usage);
//   usage::moved(context->usage, 4096);
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "ledger/ledger.h"

namespace gdr::verbs::usage {

// Counts one device's use. It is null where nobody counts.
using Counted = ledger::Device*;

Counted opened(const char* device);
// Null: it has no record.
using Recorded = ledger::QueuePair*;
Recorded made_queue_pair(Counted device);
// It was brought to that state. What was ready to receive once stays so in the record.
void moved_to(Recorded queue_pair, ibv_qp_state state);

// Hot.
inline void moved(Counted device, std::uint64_t bytes) {
  if (device != nullptr && bytes != 0)
    device->rest.add(ledger::kBytesOut, ledger::Memory::kOther, bytes);
}
// What the requests before `end` move, which need not be one of the list.
std::uint64_t bytes_of(const ibv_send_wr* list, const ibv_send_wr* end);

}  // namespace gdr::verbs::usage
