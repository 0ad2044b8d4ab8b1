#include <algorithm>

#include "softgpu/copy.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

bool grants(const Range& range, Access access, int device) {
  if (range.kind != Range::Kind::kMapped) return true;
  const unsigned have = range.access[static_cast<std::size_t>(device)];
  const unsigned need =
      access == Access::kWrite ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
  return (have & need) == need;
}

// Memory the driver does not know: the application's own, unless it reaches into what it knows.
CUresult resolve_pageable(Process& process, std::uint64_t address, std::uint64_t bytes, Side side,
                          Span* span) {
  if (side == Side::kDevice) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t last = address + bytes - 1;
  if (process.addresses.contains(address) || process.addresses.contains(last)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto next = process.ranges.upper_bound(address);
  if (next != process.ranges.end() && next->first <= last) return CUDA_ERROR_INVALID_VALUE;
  span->pageable = true;
  span->pieces.push_back({reinterpret_cast<std::byte*>(address), bytes, nullptr});
  return CUDA_SUCCESS;
}

}  // namespace

CUresult resolve(Process& process, std::uint64_t address, std::uint64_t bytes, Side side,
                 Access access, int device, Span* span) {
  if (bytes == 0) return CUDA_SUCCESS;
  if (address == 0 || address + bytes < address) return CUDA_ERROR_INVALID_VALUE;
  while (bytes > 0) {
    std::shared_ptr<Range> range = process.find_range(address);
    if (range == nullptr) {
      if (!span->pieces.empty()) return CUDA_ERROR_INVALID_VALUE;
      return resolve_pageable(process, address, bytes, side, span);
    }
    const std::uint64_t here = std::min(bytes, range->end() - address);
    if (range->on_host()) {
      span->pieces.push_back({reinterpret_cast<std::byte*>(address), here, nullptr});
    } else {
      if (!grants(*range, access, device)) return CUDA_ERROR_INVALID_VALUE;
      const std::uint64_t offset = range->offset + (address - range->base);
      span->pieces.push_back({range->backing->data() + offset, here, range->backing});
      span->on_device = true;
      span->device = range->device;
    }
    span->sync_memops |= range->sync_memops;
    address += here;
    bytes -= here;
    // Only adjacent VMM mappings make one range; two allocations side by side do not.
    if (bytes > 0 && range->kind != Range::Kind::kMapped) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

void add_moves(const Span& to, std::uint64_t to_offset, const Span& from, std::uint64_t from_offset,
               std::uint64_t bytes, std::vector<Move>* moves) {
  std::size_t to_piece = 0;
  std::size_t from_piece = 0;
  auto advance = [](const Span& span, std::size_t& piece, std::uint64_t& offset) {
    while (piece < span.pieces.size() && offset >= span.pieces[piece].bytes) {
      offset -= span.pieces[piece++].bytes;
    }
    return piece < span.pieces.size();
  };
  while (bytes > 0 && advance(to, to_piece, to_offset) && advance(from, from_piece, from_offset)) {
    const Piece& target = to.pieces[to_piece];
    const Piece& source = from.pieces[from_piece];
    const std::uint64_t here =
        std::min({bytes, target.bytes - to_offset, source.bytes - from_offset});
    moves->push_back({target.at + to_offset, source.at + from_offset, here});
    to_offset += here;
    from_offset += here;
    bytes -= here;
  }
}

}  // namespace gdr::softgpu
