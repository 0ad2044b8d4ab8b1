// Place: what the driver says about an address of GPU memory, and the identity of a range of it.
//
//   const cuda::Place place = cuda::look_up(driver.pointer_get_attributes, address);
//   if (place.is_device) ...
//
// Needs one function of the driver and no run-time library of C++: the observer of dma-buf exports
// (src/stand_ins/observe), which lives in every process under `gdr run`, uses it beside the CUDA
// client.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/driver_abi.h"

namespace gdr::cuda {

constexpr std::uint64_t kGpuPage = 64 << 10;

using PointerGetAttributes = CUresult(unsigned count, CUpointer_attribute* names, void** values,
                                      CUdeviceptr address);

// `is_device` is false for host memory and unknown addresses.
struct Place {
  bool is_device = false;
  bool is_managed = false;
  int ordinal = 0;
  // cuMemAlloc and pools: the allocation. VMM: the reserved addresses, which may have holes.
  std::uint64_t base = 0, end = 0;
  std::uint64_t mapping = 0, mapping_end = 0;  // VMM: of the one that the address lies in
  std::uint64_t buffer_id = 0;                 // of the allocation or mapping; never given twice
};

// Fails for nothing but a driver that is not initialised, and needs no current context, unlike
// cuMemGetAddressRange (CUDA_ERROR_INVALID_CONTEXT in a thread without one; measured, CUDA 13.0).
Place look_up(PointerGetAttributes& ask, std::uint64_t address);

// Hardware registers whole GPU pages, and programs (NCCL) round their ranges to pages: a range may
// leave the allocation by less than a page.
bool holds(const Place& place, std::uint64_t address, std::uint64_t length);

// The place that holds the range, or else that of its first byte, which may lie in the page before
// the allocation; the middle seldom does.
Place place_of_range(PointerGetAttributes& ask, std::uint64_t address, std::uint64_t length);

// Calls visit(address, place) for each allocation or mapping of `first` under [address, end). False
// when there is a hole or a second GPU.
template <typename Visit>
bool for_each_piece(PointerGetAttributes& ask, const Place& first, std::uint64_t address,
                    std::uint64_t end, Visit visit) {
  std::uint64_t at = std::max(address, first.base);
  end = std::min(end, first.end);
  while (at < end) {
    const Place place = look_up(ask, at);
    if (!place.is_device || place.ordinal != first.ordinal || place.mapping_end <= at) return false;
    visit(at, place);
    at = place.mapping_end;
  }
  return true;
}

// Changes when any allocation or mapping under the range is freed, whatever is put in its place. 0:
// the range is not GPU memory as a whole.
std::uint64_t identity_of(PointerGetAttributes& ask, std::uint64_t address, std::uint64_t length);

}  // namespace gdr::cuda
