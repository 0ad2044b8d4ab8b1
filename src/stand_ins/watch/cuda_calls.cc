// Copies between host and GPU: beside RDMA from and to host memory, they are what staging is made
// of. Each costs one addition; copies to and from addresses of either kind ask the driver.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cuda/driver_abi.h"
#include "watch/gpu.h"
#include "watch/process.h"
#include "watch/watched.h"

#define GDR_WATCHED extern "C" __attribute__((visibility("default")))

namespace cuda = gdr::cuda;
using namespace gdr::watch;  // NOLINT: this file is the C interface of the namespace
using cuda::CUdeviceptr;
using cuda::CUresult;
using cuda::CUstream;

namespace {

void count_to_host(std::size_t bytes) {
  if (gdr::ledger::Process* own = process()) {
    own->to_host.fetch_add(bytes, std::memory_order_relaxed);
    own->copies_to_host.fetch_add(1, std::memory_order_relaxed);
  }
}

void count_to_gpu(std::size_t bytes) {
  if (gdr::ledger::Process* own = process()) {
    own->to_gpu.fetch_add(bytes, std::memory_order_relaxed);
    own->copies_to_gpu.fetch_add(1, std::memory_order_relaxed);
  }
}

void count_either(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  if (process() == nullptr || bytes == 0) return;
  const bool into_gpu = gpu_place(to, 1).is_gpu, out_of_gpu = gpu_place(from, 1).is_gpu;
  if (into_gpu && !out_of_gpu) count_to_gpu(bytes);
  if (out_of_gpu && !into_gpu) count_to_host(bytes);
}

// The driver's own name of what it returned for `symbol`: the requested version decides the ABI,
// and a flag the kind of default stream.
Watched returned_for(const char* symbol, int version, std::uint64_t flags) {
  struct Meaning {
    const char* symbol;
    int since;
    Watched plain, per_thread;
  };
  static constexpr Meaning kMeanings[] = {
      {"cuGetProcAddress", 12000, kGetProc2, kGetProc2Ptsz},
      {"cuGetProcAddress", 0, kGetProc, kGetProcPtsz},
      {"cuMemcpyDtoH", 3020, kToHost, kToHostPtds},
      {"cuMemcpyHtoD", 3020, kToGpu, kToGpuPtds},
      {"cuMemcpyDtoHAsync", 3020, kToHostAsync, kToHostAsyncPtsz},
      {"cuMemcpyHtoDAsync", 3020, kToGpuAsync, kToGpuAsyncPtsz},
      {"cuMemcpy", 4000, kCopy, kCopyPtds},
      {"cuMemcpyAsync", 4000, kCopyAsync, kCopyAsyncPtsz},
  };
  const bool per_thread = (flags & cuda::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  for (const Meaning& one : kMeanings) {
    if (version >= one.since && __builtin_strcmp(symbol, one.symbol) == 0) {
      return per_thread ? one.per_thread : one.plain;
    }
  }
  return which(symbol);  // by its full name
}

void replace(const char* symbol, void** out, int version, std::uint64_t flags) {
  if (symbol == nullptr || out == nullptr || *out == nullptr) return;
  *out = in_place_of(returned_for(symbol, version, flags), *out);
}

using GetProc = CUresult(const char*, void**, int, std::uint64_t);
using GetProc2 = CUresult(const char*, void**, int, std::uint64_t,
                          cuda::CUdriverProcAddressQueryResult*);

CUresult get(Watched one, std::uint64_t more_flags, const char* symbol, void** out, int version,
             std::uint64_t flags) {
  auto* call = real<GetProc>(one);
  if (call == nullptr) return cuda::CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = call(symbol, out, version, flags);
  if (result == cuda::CUDA_SUCCESS) replace(symbol, out, version, flags | more_flags);
  return result;
}

CUresult get(Watched one, std::uint64_t more_flags, const char* symbol, void** out, int version,
             std::uint64_t flags, cuda::CUdriverProcAddressQueryResult* status) {
  auto* call = real<GetProc2>(one);
  if (call == nullptr) return cuda::CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = call(symbol, out, version, flags, status);
  if (result == cuda::CUDA_SUCCESS) replace(symbol, out, version, flags | more_flags);
  return result;
}

template <typename Count, typename... Arguments>
CUresult copy(Watched one, Count count, Arguments... arguments) {
  auto* call = real<CUresult(Arguments...)>(one);
  if (call == nullptr) return cuda::CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = call(arguments...);
  if (result == cuda::CUDA_SUCCESS) count();
  return result;
}

}  // namespace

GDR_WATCHED CUresult cuGetProcAddress(const char* symbol, void** out, int version,
                                      std::uint64_t flags) {
  return get(kGetProc, 0, symbol, out, version, flags);
}
GDR_WATCHED CUresult cuGetProcAddress_ptsz(const char* symbol, void** out, int version,
                                           std::uint64_t flags) {
  return get(kGetProcPtsz, cuda::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, symbol, out,
             version, flags);
}
GDR_WATCHED CUresult cuGetProcAddress_v2(const char* symbol, void** out, int version,
                                         std::uint64_t flags,
                                         cuda::CUdriverProcAddressQueryResult* status) {
  return get(kGetProc2, 0, symbol, out, version, flags, status);
}
GDR_WATCHED CUresult cuGetProcAddress_v2_ptsz(const char* symbol, void** out, int version,
                                              std::uint64_t flags,
                                              cuda::CUdriverProcAddressQueryResult* status) {
  return get(kGetProc2Ptsz, cuda::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, symbol, out,
             version, flags, status);
}

#define GDR_TO_HOST(name, id)                                                \
  GDR_WATCHED CUresult name(void* to, CUdeviceptr from, std::size_t bytes) { \
    return copy(                                                             \
        id, [=] { count_to_host(bytes); }, to, from, bytes);                 \
  }
#define GDR_TO_HOST_ASYNC(name, id)                                                       \
  GDR_WATCHED CUresult name(void* to, CUdeviceptr from, std::size_t bytes, CUstream on) { \
    return copy(                                                                          \
        id, [=] { count_to_host(bytes); }, to, from, bytes, on);                          \
  }
#define GDR_TO_GPU(name, id)                                                       \
  GDR_WATCHED CUresult name(CUdeviceptr to, const void* from, std::size_t bytes) { \
    return copy(                                                                   \
        id, [=] { count_to_gpu(bytes); }, to, from, bytes);                        \
  }
#define GDR_TO_GPU_ASYNC(name, id)                                                              \
  GDR_WATCHED CUresult name(CUdeviceptr to, const void* from, std::size_t bytes, CUstream on) { \
    return copy(                                                                                \
        id, [=] { count_to_gpu(bytes); }, to, from, bytes, on);                                 \
  }
#define GDR_EITHER(name, id)                                                       \
  GDR_WATCHED CUresult name(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) { \
    return copy(                                                                   \
        id, [=] { count_either(to, from, bytes); }, to, from, bytes);              \
  }
#define GDR_EITHER_ASYNC(name, id)                                                              \
  GDR_WATCHED CUresult name(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream on) { \
    return copy(                                                                                \
        id, [=] { count_either(to, from, bytes); }, to, from, bytes, on);                       \
  }

GDR_TO_HOST(cuMemcpyDtoH_v2, kToHost)
GDR_TO_HOST(cuMemcpyDtoH_v2_ptds, kToHostPtds)
GDR_TO_HOST_ASYNC(cuMemcpyDtoHAsync_v2, kToHostAsync)
GDR_TO_HOST_ASYNC(cuMemcpyDtoHAsync_v2_ptsz, kToHostAsyncPtsz)
GDR_TO_GPU(cuMemcpyHtoD_v2, kToGpu)
GDR_TO_GPU(cuMemcpyHtoD_v2_ptds, kToGpuPtds)
GDR_TO_GPU_ASYNC(cuMemcpyHtoDAsync_v2, kToGpuAsync)
GDR_TO_GPU_ASYNC(cuMemcpyHtoDAsync_v2_ptsz, kToGpuAsyncPtsz)
GDR_EITHER(cuMemcpy, kCopy)
GDR_EITHER(cuMemcpy_ptds, kCopyPtds)
GDR_EITHER_ASYNC(cuMemcpyAsync, kCopyAsync)
GDR_EITHER_ASYNC(cuMemcpyAsync_ptsz, kCopyAsyncPtsz)
