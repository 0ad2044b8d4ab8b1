// Tally: what a few work requests come to, added up before it is counted. Hot.
//
//   Tally tally;
//   for (const ibv_send_wr* one = list; one != nullptr; one = one->next) tally.add(device, *one);
//   tally.commit(queue_pair.counts);
#pragma once

#include <infiniband/verbs.h>

#include "ledger/ledger.h"

namespace gdr::watch {

struct Tally {
  std::uint64_t bytes[ledger::kBytesOf][ledger::kMemories] = {};
  std::uint64_t operations[ledger::kOperations] = {};

  void add(std::uint32_t device, const ibv_send_wr& request);
  void commit(ledger::Counts& counts) const;
};

}  // namespace gdr::watch
