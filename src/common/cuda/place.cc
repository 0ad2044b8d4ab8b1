#include "cuda/place.h"

#include <iterator>

namespace gdr::cuda {

Place look_up(PointerGetAttributes& ask, std::uint64_t address) {
  unsigned type = 0, is_managed = 0;
  int ordinal = -1;
  CUdeviceptr start = 0, mapping = 0;
  std::size_t size = 0, mapping_size = 0;
  unsigned long long id = 0;
  CUpointer_attribute names[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE,       CU_POINTER_ATTRIBUTE_IS_MANAGED,
      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
      CU_POINTER_ATTRIBUTE_RANGE_SIZE,        CU_POINTER_ATTRIBUTE_BUFFER_ID,
      CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, CU_POINTER_ATTRIBUTE_MAPPING_SIZE};
  void* values[] = {&type, &is_managed, &ordinal, &start, &size, &id, &mapping, &mapping_size};
  Place found;
  // Drivers before CUDA 11.3 do not know the last two.
  if (ask(std::size(names), names, values, address) != CUDA_SUCCESS &&
      ask(std::size(names) - 2, names, values, address) != CUDA_SUCCESS) {
    return found;
  }
  found.is_managed = is_managed != 0;
  found.is_device = type == CU_MEMORYTYPE_DEVICE && ordinal >= 0;
  found.ordinal = ordinal;
  found.base = start;
  found.end = start + size;
  found.mapping = mapping_size != 0 ? mapping : found.base;
  found.mapping_end = mapping_size != 0 ? mapping + mapping_size : found.end;
  found.buffer_id = id;
  return found;
}

bool holds(const Place& place, std::uint64_t address, std::uint64_t length) {
  const std::uint64_t begin = place.base & ~(kGpuPage - 1);
  const std::uint64_t end = (place.end + kGpuPage - 1) & ~(kGpuPage - 1);
  return address >= begin && address <= end && length <= end - address;
}

Place place_of_range(PointerGetAttributes& ask, std::uint64_t address, std::uint64_t length) {
  const Place first = look_up(ask, address);
  if (first.is_device && holds(first, address, length)) return first;
  const Place middle = look_up(ask, address + length / 2);
  return middle.is_device && holds(middle, address, length) ? middle : first;
}

std::uint64_t identity_of(PointerGetAttributes& ask, std::uint64_t address, std::uint64_t length) {
  const Place place = place_of_range(ask, address, length);
  if (!place.is_device || !holds(place, address, length)) return 0;
  // FNV-1a over the numbers of the pieces: those of a range are never all given again.
  std::uint64_t identity = 0xcbf29ce484222325;
  const bool whole =
      for_each_piece(ask, place, address, address + length, [&](std::uint64_t, const Place& piece) {
        identity = (identity ^ piece.buffer_id) * 0x100000001b3;
      });
  return whole ? identity : 0;
}

}  // namespace gdr::cuda
