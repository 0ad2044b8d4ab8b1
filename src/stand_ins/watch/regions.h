// Regions: what was registered, and the memory behind a local key. Looking up is hot.
//
//   note_region(device, *mr, {.way = Way::kAddress, .address = a, .bytes = n}, place);
//   Memory memory = memory_of(device, segment.lkey);
#pragma once

#include <infiniband/verbs.h>

#include "ledger/ledger.h"
#include "watch/gpu.h"

namespace gdr::watch {

struct Registration {
  ledger::Way way = ledger::Way::kAddress;
  std::uint64_t address = 0, bytes = 0;
  unsigned access = 0;
  int error = 0;
};

// `region` is null where it failed. `device` is the number of its record.
void note_region(std::uint32_t device, const ibv_mr* region, const Registration& how,
                 const GpuPlace& place);

// What is known of a region, until its key may be another's; given back if it was not deregistered.
struct NotedRegion {
  std::uint64_t key = 0, value = 0;
};
NotedRegion forget_region(std::uint32_t device, const ibv_mr& region);
void restore_region(const NotedRegion& region);
void note_released(const NotedRegion& region);

ledger::Memory memory_of(std::uint32_t device, std::uint32_t key);

}  // namespace gdr::watch
