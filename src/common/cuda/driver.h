// Driver: the CUDA driver API, loaded at run time and never linked.
//
//   Result<const cuda::Driver*> driver = cuda::Driver::load();
//   if (!driver) return driver.error();
//   const cuda::Driver& cuda = **driver;
//   if (cuda::CUresult r = cuda.init(0)) {
//     return Error{EIO, "cuInit: " + cuda.describe(r)};
//   }
//   int count = 0;
//   cuda.device_get_count(&count);
//
// The members are the driver's functions without their "cu" prefix, resolved to their current
// version (cuMemAlloc_v2 is mem_alloc); driver_functions.inc lists them. A Driver is never
// unloaded, may be used from every thread, and stays valid until the process ends.
#pragma once

#include <string>

#include "base/result.h"
#include "cuda/driver_abi.h"

namespace gdr::cuda {

class Driver {
 public:
  // For our own tools: opens the library, and fails with one line naming what is missing.
  static Result<const Driver*> load(const char* path = "libcuda.so.1");

  // For code that lives in other people's processes (the software NIC): the driver the process
  // already has, or null. Never brings CUDA into a process that has none. Cheap once it was found.
  static const Driver* already_loaded();

  // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
  std::string describe(CUresult result) const;

  // Where the library came from, as the dynamic linker knows it.
  const std::string& path() const { return path_; }

#define GDR_CUDA_REQUIRED(member, symbol, parameters) CUresult(*member) parameters = nullptr;
#define GDR_CUDA_OPTIONAL(member, symbol, parameters) CUresult(*member) parameters = nullptr;
#include "cuda/driver_functions.inc"
#undef GDR_CUDA_REQUIRED
#undef GDR_CUDA_OPTIONAL

 private:
  static Result<const Driver*> resolve(void* library, const char* name);
  std::string path_;
};

}  // namespace gdr::cuda
