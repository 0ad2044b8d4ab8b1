// Gpu: an open GPU, used through its primary context as the CUDA runtime of other programs uses it.
//
//   Result<Gpu> gpu = open_gpu("libcuda.so.1", 0);   // current in this thread
//   std::thread other([&] { (void)make_current(*gpu); ... });
#pragma once

#include <string>

#include "base/result.h"
#include "cuda/driver.h"

namespace gdr::participants {

struct Gpu {
  const cuda::Driver* driver = nullptr;  // null: no GPU
  cuda::CUdevice device = 0;
  cuda::CUcontext context = nullptr;
};

// `library`: by path or name. The primary context is then current in the calling thread, and stays
// alive until the process ends.
Result<Gpu> open_gpu(const std::string& library, int ordinal);

// Every further thread that uses the GPU says so first. Does nothing where there is no GPU.
Result<void> make_current(const Gpu& gpu);

// In lower case, as sysfs has it; empty where the driver does not say.
std::string pci_address_of(const cuda::Driver& driver, cuda::CUdevice device);

}  // namespace gdr::participants
