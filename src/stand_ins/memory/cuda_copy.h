// One copy by the CUDA driver, and the shapes in which it is safe beside an application's kernels.
//
//   CUresult result = issue_copy(driver, {to, from, length, CudaCopy::Kind::kFromHost}, stream);
#pragma once

#include <cstdint>
#include <span>

#include "cuda/driver.h"

namespace gdr::memory {

struct CudaCopy {
  enum class Kind { kFromHost, kToHost, kOnDevice };
  std::uint64_t to, from, length;
  Kind kind;
  bool is_staging = false;         // its host side is the library's own, whose pages are locked
  const void* sequence = nullptr;  // that it belongs to
  bool may_overtake = false;       // those of its sequence before it
};

// In the current context.
cuda::CUresult issue_copy(const cuda::Driver& driver, const CudaCopy& copy, cuda::CUstream stream);

// Whether they may go by one call: all of one kind, and none that needs two rows or host memory of
// which only the program knows what it is.
bool can_go_together(std::span<const CudaCopy> copies);
// By one call and in no order among each other; refused as a whole. CUDA_ERROR_NOT_SUPPORTED by
// drivers before CUDA 13.
cuda::CUresult issue_together(const cuda::Driver& driver, std::span<const CudaCopy> copies,
                              cuda::CUmemcpyFlags flags, cuda::CUstream stream);

}  // namespace gdr::memory
