// cuMemset*: patterns of one, two and four bytes, in rows.
#include <algorithm>
#include <cstring>

#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

struct Fill {
  std::uint64_t to = 0;
  std::uint64_t pitch = 0;
  std::uint32_t value = 0;
  unsigned unit = 1;        // bytes of the pattern
  std::uint64_t width = 0;  // units in a row
  std::uint64_t height = 1;
};

void fill_bytes(std::byte* at, std::size_t bytes, std::uint32_t value, unsigned unit) {
  if (unit == 1) {
    std::memset(at, static_cast<int>(value), bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    at[i] = static_cast<std::byte>(value >> (8 * (i % unit)));
  }
}

// One row, which may lie on several pieces; they meet where units do.
void fill_row(const Span& span, std::uint64_t offset, std::uint64_t bytes, const Fill& fill) {
  std::uint64_t done = 0;
  for (const Piece& piece : span.pieces) {
    if (offset >= piece.bytes) {
      offset -= piece.bytes;
      continue;
    }
    const std::uint64_t here = std::min<std::uint64_t>(bytes - done, piece.bytes - offset);
    fill_bytes(piece.at + offset, here, fill.value, fill.unit);
    done += here;
    offset = 0;
    if (done == bytes) return;
  }
}

CUresult set(Fill fill, CUstream handle, Completion completion) {
  return in_context([&](Process& process, Context& context) -> CUresult {
    if (fill.width == 0 || fill.height == 0) return CUDA_SUCCESS;
    std::uint64_t row = 0;
    std::uint64_t extent = 0;
    if (fill.to % fill.unit != 0 || fill.pitch % fill.unit != 0 ||
        __builtin_mul_overflow(fill.width, fill.unit, &row) ||
        __builtin_mul_overflow(fill.pitch, fill.height - 1, &extent) ||
        __builtin_add_overflow(extent, row, &extent) || (fill.height > 1 && fill.pitch < row)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::unique_lock guard(process.lock);
    std::shared_ptr<Stream> stream = find_stream(process, context, handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult r = process.captures.on_work(*stream)) return r;
    auto span = std::make_shared<Span>();
    if (CUresult r = resolve(process, fill.to, extent, Side::kDevice, Access::kWrite,
                             stream->context()->device(), span.get())) {
      return r;
    }
    // Kernels of the driver's own.
    std::shared_ptr<ComputeChannel> behind;
    if (span->on_device) {
      behind = process.devices[static_cast<std::size_t>(span->device)].compute_channel;
    }
    const Mark mark = issue(*stream, [span, fill, row, behind] {
      if (behind != nullptr) behind->wait_until_free();
      for (std::uint64_t y = 0; y < fill.height; ++y) fill_row(*span, y * fill.pitch, row, fill);
    });
    const bool context_syncs =
        completion == Completion::kOnReturn && stream->context()->syncs_memops();
    guard.unlock();
    // Asynchronous to the host, even without "Async" in the name, unless the memory is the host's.
    if (!span->on_device || span->sync_memops || context_syncs) mark.wait();
    return CUDA_SUCCESS;
  });
}

}  // namespace

#define GDR_MEMSET(bits, type)                                                                 \
  GDR_CU_SYNC(cuMemsetD##bits##_v2, (CUdeviceptr to, type value, std::size_t count),           \
              (to, value, count),                                                              \
              return set({to, 0, value, bits / 8, count, 1}, stream, Completion::kOnReturn);)  \
  GDR_CU_ASYNC(cuMemsetD##bits##Async, (CUdeviceptr to, type value, std::size_t count),        \
               (to, value, count),                                                             \
               return set({to, 0, value, bits / 8, count, 1}, stream, Completion::kOnStream);) \
  GDR_CU_SYNC(                                                                                 \
      cuMemsetD2D##bits##_v2,                                                                  \
      (CUdeviceptr to, std::size_t pitch, type value, std::size_t width, std::size_t height),  \
      (to, pitch, value, width, height),                                                       \
      return set({to, pitch, value, bits / 8, width, height}, stream, Completion::kOnReturn);) \
  GDR_CU_ASYNC(                                                                                \
      cuMemsetD2D##bits##Async,                                                                \
      (CUdeviceptr to, std::size_t pitch, type value, std::size_t width, std::size_t height),  \
      (to, pitch, value, width, height),                                                       \
      return set({to, pitch, value, bits / 8, width, height}, stream, Completion::kOnStream);)

GDR_MEMSET(8, unsigned char)
GDR_MEMSET(16, unsigned short)
GDR_MEMSET(32, unsigned)

}  // namespace gdr::softgpu
