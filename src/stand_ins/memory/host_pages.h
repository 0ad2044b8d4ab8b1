// Making host memory ready for a registration: what pinning does on hardware, without the pin.
//
//   Result<void> ready = fault_in(address, length, /*writable=*/true);
//   if (!ready) return ready.error();   // EFAULT: not there, or not writable
//
// Cold: called once a registration, on the application's thread.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace gdr::memory {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

// Every page of the range is present afterwards, writable without a further fault if asked. Whole
// huge pages inside a range of 2 MiB or more are collapsed where the kernel agrees.
Result<void> fault_in(std::uint64_t address, std::uint64_t length, bool writable);

// The same without MADV_POPULATE_*, for kernels before 5.14: checks every page, but pages may still
// be copied on the first write, and nothing is collapsed.
Result<void> probe(std::uint64_t address, std::uint64_t length, bool writable);

// Whether the kernel can be asked to make pages present (MADV_POPULATE_*, Linux 5.14).
bool kernel_populates();

}  // namespace gdr::memory
