// cudaGetDeviceProperties.
#include <cstring>

#include "softgpu/runtime/call.h"

namespace gdr::softgpu::runtime {
namespace {

using namespace cuda;

#if GDR_CUDART_MAJOR >= 13
static_assert(sizeof(cudaDeviceProp) == 1008);
static_assert(sizeof(cudaPointerAttributes) == 88);
#else
static_assert(sizeof(cudaDeviceProp) == 1032);
static_assert(sizeof(cudaPointerAttributes) == 24);
#endif

template <typename Field>
struct Wanted {
  Field cudaDeviceProp::*field;
  CUdevice_attribute attribute;
};

constexpr Wanted<int> kInts[] = {
    {&cudaDeviceProp::regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {&cudaDeviceProp::warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {&cudaDeviceProp::maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&cudaDeviceProp::major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {&cudaDeviceProp::minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {&cudaDeviceProp::multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {&cudaDeviceProp::integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {&cudaDeviceProp::canMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {&cudaDeviceProp::concurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {&cudaDeviceProp::ECCEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
    {&cudaDeviceProp::pciBusID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {&cudaDeviceProp::pciDeviceID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {&cudaDeviceProp::pciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
    {&cudaDeviceProp::asyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    {&cudaDeviceProp::unifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {&cudaDeviceProp::memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {&cudaDeviceProp::l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {&cudaDeviceProp::maxThreadsPerMultiProcessor,
     CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::streamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED},
    {&cudaDeviceProp::regsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {&cudaDeviceProp::canUseHostPointerForRegisteredMem,
     CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
    {&cudaDeviceProp::maxBlocksPerMultiProcessor,
     CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    {&cudaDeviceProp::hostRegisterReadOnlySupported,
     CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED},
    {&cudaDeviceProp::memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
    {&cudaDeviceProp::gpuDirectRDMASupported, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED},
    {&cudaDeviceProp::gpuDirectRDMAWritesOrdering,
     CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING},
    {&cudaDeviceProp::ipcEventSupported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED},
#if GDR_CUDART_MAJOR < 13
    {&cudaDeviceProp::clockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {&cudaDeviceProp::deviceOverlap, CU_DEVICE_ATTRIBUTE_GPU_OVERLAP},
    {&cudaDeviceProp::computeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE},
    {&cudaDeviceProp::memoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
#else
    {&cudaDeviceProp::deviceNumaId, CU_DEVICE_ATTRIBUTE_NUMA_ID},
    {&cudaDeviceProp::hostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID},
#endif
};

constexpr Wanted<std::size_t> kSizes[] = {
    {&cudaDeviceProp::sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {&cudaDeviceProp::memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {&cudaDeviceProp::totalConstMem, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {&cudaDeviceProp::sharedMemPerMultiprocessor,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::sharedMemPerBlockOptin,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
};

CUresult fill(const Driver& cu, cudaDeviceProp* out, int device) {
  CUresult result = CUDA_SUCCESS;
  auto ask = [&](CUdevice_attribute attribute) {
    int value = 0;
    if (CUresult r = cu.device_get_attribute(&value, attribute, device)) result = r;
    return value;
  };
  if (CUresult r = cu.device_get_name(out->name, sizeof out->name, device)) return r;
  if (CUresult r = cu.device_total_mem(&out->totalGlobalMem, device)) return r;
  if (cu.device_get_uuid != nullptr) cu.device_get_uuid(&out->uuid, device);
  for (const auto& wanted : kInts) out->*wanted.field = ask(wanted.attribute);
  for (const auto& wanted : kSizes) {
    out->*wanted.field = static_cast<std::size_t>(ask(wanted.attribute));
  }
  for (int i = 0; i < 3; ++i) {
    out->maxThreadsDim[i] =
        ask(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i));
    out->maxGridSize[i] =
        ask(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i));
  }
  out->gpuDirectRDMAFlushWritesOptions =
      static_cast<unsigned>(ask(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS));
  out->memoryPoolSupportedHandleTypes =
      static_cast<unsigned>(ask(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES));
  return result;
}

cudaError_t get(cudaDeviceProp* out, int device) {
  if (out == nullptr) return keep(cudaErrorInvalidValue);
  std::memset(out, 0, sizeof *out);
  return call_driver([&](const Driver& cu) { return fill(cu, out, device); });
}

}  // namespace

// CUDA 12 renamed the function when it changed the structure; 13 took the name back. The first name
// with version 12 means the structure of CUDA 11, which this library does not write.
#if GDR_CUDART_MAJOR >= 13
GDR_RT cudaGetDeviceProperties(cudaDeviceProp* out, int device) { return get(out, device); }
#else
GDR_RT cudaGetDeviceProperties_v2(cudaDeviceProp* out, int device) { return get(out, device); }
GDR_RT cudaGetDeviceProperties(void*, int) { return keep(cudaErrorNotSupported); }
#endif

}  // namespace gdr::softgpu::runtime
