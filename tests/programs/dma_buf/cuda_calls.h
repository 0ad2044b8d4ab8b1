// The driver's functions in the manner in which a program gets hold of them. Each is one in which
// programs of the field do; none of them knows of the observer.
#pragma once

#include <string_view>

#include "cuda/driver_abi.h"

namespace gdr::test {

// member, exported symbol, name for cuGetProcAddress.
#define GDR_TEST_CALLS(CALL)                                         \
  CALL(init, cuInit, "cuInit")                                       \
  CALL(retain, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain") \
  CALL(set_current, cuCtxSetCurrent, "cuCtxSetCurrent")              \
  CALL(alloc, cuMemAlloc_v2, "cuMemAlloc")                           \
  CALL(free, cuMemFree_v2, "cuMemFree")                              \
  CALL(fill, cuMemsetD8_v2, "cuMemsetD8")                            \
  CALL(synchronize, cuCtxSynchronize, "cuCtxSynchronize")            \
  CALL(read, cuMemcpyDtoH_v2, "cuMemcpyDtoH")                        \
  CALL(export_range, cuMemGetHandleForAddressRange, "cuMemGetHandleForAddressRange")

}  // namespace gdr::test

namespace gdr::cuda {
extern "C" {
#define GDR_CUDA_REQUIRED(member, symbol, parameters) CUresult symbol parameters;
#define GDR_CUDA_OPTIONAL(member, symbol, parameters) CUresult symbol parameters;
#include "cuda/driver_functions.inc"
#undef GDR_CUDA_REQUIRED
#undef GDR_CUDA_OPTIONAL
}
}  // namespace gdr::cuda

namespace gdr::test {

struct CudaCalls {
#define GDR_TEST_MEMBER(member, symbol, name) decltype(&cuda::symbol) member = nullptr;
  GDR_TEST_CALLS(GDR_TEST_MEMBER)
#undef GDR_TEST_MEMBER
};

// "linked" (only in the program that is), "dlsym", "default" (dlsym in the global scope),
// "proc-address", "runtime" (by cudaGetDriverEntryPointByVersion). False: not to be had that way.
bool get_cuda_calls(std::string_view manner, CudaCalls* calls);

}  // namespace gdr::test
