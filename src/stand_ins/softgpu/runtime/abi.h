// The part of the CUDA runtime API's binary interface that this library answers, in our own words.
// Numbers of errors, flags, attributes and copy kinds are the driver's, or are listed here.
// GDR_CUDART_MAJOR is 12 or 13: the two have different cudaDeviceProp and cudaPointerAttributes.
#pragma once

#include <cstddef>

#include "cuda/driver_abi.h"

namespace gdr::softgpu::runtime {

enum cudaError_t : int {
#define GDR_CUDART_ERROR(number, name, text) name = number,
#include "softgpu/runtime/errors.inc"
#undef GDR_CUDART_ERROR
};

enum cudaMemcpyKind : int {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

enum cudaMemoryType : int {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3,
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
#if GDR_CUDART_MAJOR >= 13
  long reserved[8];
#endif
};

struct cudaDeviceProp {
  char name[256];
  cuda::CUuuid uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
#if GDR_CUDART_MAJOR < 13
  int clockRate;
#endif
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
#if GDR_CUDART_MAJOR < 13
  int deviceOverlap;
#endif
  int multiProcessorCount;
#if GDR_CUDART_MAJOR < 13
  int kernelExecTimeoutEnabled;
#endif
  int integrated;
  int canMapHostMemory;
#if GDR_CUDART_MAJOR < 13
  int computeMode;
  int textureLimits[40];  // no texture or surface exists here: all zero
#else
  int textureLimits[39];
#endif
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
#if GDR_CUDART_MAJOR < 13
  int memoryClockRate;
#endif
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
#if GDR_CUDART_MAJOR < 13
  int singleToDoublePrecisionPerfRatio;
#endif
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
#if GDR_CUDART_MAJOR < 13
  int cooperativeMultiDeviceLaunch;
#endif
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
#if GDR_CUDART_MAJOR < 13
  int reserved[63];
#else
  int deviceNumaConfig;
  int deviceNumaId;
  int mpsEnabled;
  int hostNumaId;
  unsigned gpuPciDeviceID;
  unsigned gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported;
  int reserved[56];
#endif
};

}  // namespace gdr::softgpu::runtime
