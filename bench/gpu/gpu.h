// Gpu: one process's GPU: its primary context, one stream, memory, and memory of the peer's opened
// here. No context is ever made on the peer's GPU.
//
//   Gpu gpu(0);
//   const CUdeviceptr memory = gpu.allocate(bytes, /*vmm=*/false);
//   gpu.copy(to, from, bytes);
//   gpu.finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda/driver.h"
#include "options.h"

namespace gdr::bench {

// How the peer may open memory; of VMM memory, a descriptor goes beside it.
struct ExportedMemory {
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  cuda::CUipcMemHandle handle{};
};

class Gpu {
 public:
  explicit Gpu(int ordinal);

  static int count();
  std::string name() const;
  int ordinal() const { return ordinal_; }
  const std::string& driver_path() const { return cuda_.path(); }

  cuda::CUdeviceptr allocate(std::size_t bytes, bool vmm);
  std::uint64_t allocate_pinned(std::size_t bytes);
  // `descriptor`: -1, or the caller's to close.
  ExportedMemory share(cuda::CUdeviceptr memory, bool vmm, int& descriptor) const;
  cuda::CUdeviceptr open(const ExportedMemory& memory, int descriptor);

  // Addresses of GPU memory, of the peer's that was opened, and of this process's host memory.
  enum class Kind { kOnDevice, kFromHost, kToHost };
  void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, Kind kind = Kind::kOnDevice);
  void finish();
  // Marks, each of which is where its last mark() was put into the stream.
  void mark(int index);
  void await(int index);
  bool passed(int index);
  static constexpr int kMarks = 16;

 private:
  void done(cuda::CUresult result, const char* call) const;
  cuda::CUdeviceptr map(cuda::CUmemGenericAllocationHandle handle, std::size_t bytes);

  const cuda::Driver& cuda_;
  const int ordinal_;
  cuda::CUdevice device_ = 0;
  cuda::CUstream stream_ = nullptr;
  cuda::CUevent marks_[kMarks] = {};
};

// The GPU of this process, or of the peer.
int choose_gpu(const Options& options, bool is_peer);

}  // namespace gdr::bench
