// Taking and giving back device memory: what cuMemAlloc, pools and imports share.
#pragma once

#include <memory>

#include "softgpu/process.h"

namespace gdr::softgpu {

// Device memory of `bytes`, in the tables and charged to the device. With Process::lock held.
cuda::CUresult allocate(Process& process, int device, std::uint64_t bytes, Range::Kind kind,
                        Context* context, std::shared_ptr<Range>* out);

// What cuMemFree takes: allocations, and what was imported from another process's pool.
bool can_be_freed(const Range& range);

// Gives back what `range` (already out of the table) held: addresses, charge, backing. With
// Process::lock held, after everything that used it has finished.
void dispose(Process& process, const Range& range);

// Waits for `left.marks` and disposes of `left.ranges`. Without the lock.
void clean_up(Process& process, Process::Leftovers left);

// True if the host could provide that much now; large requests are refused rather than
// overcommitted.
bool host_has_room(std::uint64_t bytes);

}  // namespace gdr::softgpu
