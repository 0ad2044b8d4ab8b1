// The address behind a dma-buf of a driver that does not tell it, where its export was observed.
//
//   if (std::optional<cuda::ObservedDmaBuf> seen = cuda::find_observed_dma_buf(fd)) {
//     // [seen->address, seen->address + seen->bytes) of this process, if identity_of() it
//     (place.h)
//     // is still seen->identity.
//   }
//
// `gdr run` preloads an observer (src/stand_ins/observe) into the program. It exports one C
// function, which is looked up by name, so that neither library needs the other.
#pragma once

#include <cstdint>
#include <optional>

namespace gdr::cuda {

struct ObservedDmaBuf {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t identity = 0;
};

// 1 and the export that gave the file this number on this device last, or 0.
using FindObservedDmaBuf = int(std::uint64_t device, std::uint64_t inode, ObservedDmaBuf* found);
inline constexpr char kFindObservedDmaBuf[] = "gdr_find_observed_dma_buf";

// Nothing where nobody observed, and for a descriptor whose size is not that of the export: a
// dma-buf that is gone may leave its number to another.
std::optional<ObservedDmaBuf> find_observed_dma_buf(int descriptor);

}  // namespace gdr::cuda
