// The ways in which one process can copy into GPU memory of another: who opens it, who copies.
#pragma once

#include <memory>
#include <string>

#include "costs.h"

namespace gdr::costs {

struct Way {
  const char* name;
  bool by_own;  // copied on a stream of a context of our own; else of the primary context
  bool opened_in_own;
  bool is_created;            // by cuMemCreate; else by cuMemAlloc
  bool from_created = false;  // the same of this process's memory
};
inline constexpr Way kWays[] = {
    {"alloc, opened in primary, copied in own", true, false, false},
    {"alloc, opened in own, copied in own", true, true, false},
    {"alloc, opened in primary, copied in primary", false, false, false},
    {"created, mapped in own, copied in own", true, true, true},
    {"created, mapped in primary, copied in primary", false, false, true},
    {"both created, copied in own", true, true, true, true},
    {"both created, copied in primary", false, false, true, true},
};

// A stream, and all that copies need. In a process without the driver so far.
struct Setup {
  Setup(const Way& way, int gpu, int far);

  const Other other;
  cuda::CUcontext primary = nullptr, own = nullptr, by = nullptr;  // by: that of the stream
  cuda::CUstream stream = nullptr;
  cuda::CUevent event = nullptr;
  cuda::CUdeviceptr to = 0;    // the other's
  cuda::CUdeviceptr from = 0;  // this process's, of the primary context
  cuda::CUdeviceptr one = 0;   // a word that is 1
  std::byte* pinned = nullptr;
  std::uint32_t* word = nullptr;  // pinned
  cuda::CUdeviceptr word_on_device = 0;
};

// Host to GPU in a shape that copy engines take.
cuda::CUresult two_rows(cuda::CUdeviceptr to, const void* from, std::size_t bytes,
                        cuda::CUstream stream);
cuda::CUresult batch(cuda::CUdeviceptr to, cuda::CUdeviceptr from, std::size_t bytes,
                     std::size_t count, cuda::CUmemcpyFlags flags, cuda::CUstream stream);

// Runs in a process of its own, at most a minute.
void apart(const std::function<void()>& work);

}  // namespace gdr::costs
