/* A program against the genuine runtime header, linked with the genuine libcudart and run with the
   stand-in in its place: what it prints on failure is the line that failed. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("line %d: %s (last error: %s)\n", __LINE__, #condition, \
             cudaGetErrorString(cudaPeekAtLastError()));             \
      return 1;                                                      \
    }                                                                \
  } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

static int devices(void) {
  int count = 0, version = 0, value = 0, device = -1;
  struct cudaDeviceProp properties;
  OK(cudaGetDeviceCount(&count));
  CHECK(count == 2);
  OK(cudaRuntimeGetVersion(&version));
  CHECK(version / 1000 == CUDART_VERSION / 1000);
  OK(cudaDriverGetVersion(&version));
  CHECK(version == 13000);
  OK(cudaSetDevice(1));
  OK(cudaGetDevice(&device));
  CHECK(device == 1);
  memset(&properties, 0x55, sizeof properties);
  OK(cudaGetDeviceProperties(&properties, 1));
  CHECK(strcmp(properties.name, "gdrkit software GPU") == 0);
  CHECK(properties.pciDomainID == 0xfffe && properties.pciBusID == 2);
  CHECK(properties.gpuDirectRDMASupported == 1);
  CHECK(properties.unifiedAddressing == 1 && properties.managedMemory == 0);
  CHECK(properties.memoryPoolSupportedHandleTypes == 1);
  CHECK(properties.maxThreadsPerMultiProcessor == 2048 && properties.memPitch == 2147483647);
  CHECK(memcmp(properties.uuid.bytes, "gdrkit-soft-gpu\1", 16) == 0);
  CHECK(properties.totalGlobalMem == 8ull << 30);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrGPUDirectRDMASupported, 0));
  CHECK(value == 1);
  CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady") == 0);
  CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
  OK(cudaSetDevice(0));
  return 0;
}

static int memory(void) {
  unsigned char out[1000], in[1000];
  void *device = NULL, *pinned = NULL, *function = NULL;
  struct cudaPointerAttributes attributes;
  cudaStream_t stream;
  cudaEvent_t start, end;
  float milliseconds = -1;
  enum cudaDriverEntryPointQueryResult status;
  for (int i = 0; i < 1000; ++i) out[i] = (unsigned char)(i * 7 + 3);
  OK(cudaMalloc(&device, 1000));
  OK(cudaMemcpy(device, out, 1000, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(in, device, 1000, cudaMemcpyDefault));
  CHECK(memcmp(in, out, 1000) == 0);
  CHECK(cudaMemcpy(in, device, 1001, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(in, device, 1, (enum cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
  OK(cudaPointerGetAttributes(&attributes, device));
  CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
  CHECK(attributes.devicePointer == device && attributes.hostPointer == NULL);
  OK(cudaPointerGetAttributes(&attributes, in));
  CHECK(attributes.type == cudaMemoryTypeUnregistered && attributes.hostPointer == in);
  OK(cudaHostAlloc(&pinned, 4096, cudaHostAllocDefault));
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&end));
  OK(cudaEventRecord(start, stream));
  OK(cudaMemsetAsync(device, 0x5a, 500, stream));
  OK(cudaMemcpyAsync(pinned, device, 1000, cudaMemcpyDeviceToHost, stream));
  OK(cudaEventRecord(end, stream));
  OK(cudaEventSynchronize(end));
  OK(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds >= 0);
  memset(out, 0x5a, 500);
  CHECK(memcmp(pinned, out, 1000) == 0);
  OK(cudaMemcpy2D(in, 10, device, 20, 10, 50, cudaMemcpyDeviceToHost));
  CHECK(in[499] == out[49 * 20 + 9]);
  OK(cudaGetDriverEntryPointByVersion("cuMemGetHandleForAddressRange", &function, 12000,
                                      cudaEnableDefault, &status));
  CHECK(function != NULL && status == cudaDriverEntryPointSuccess);
  OK(cudaStreamDestroy(stream));
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(end));
  OK(cudaFreeHost(pinned));
  OK(cudaFree(device));
  CHECK(cudaFree(device) == cudaErrorInvalidValue);
  OK(cudaFree(NULL));
  OK(cudaMallocAsync(&device, 5000, 0));
  OK(cudaFreeAsync(device, 0));
  OK(cudaDeviceSynchronize());
  OK(cudaDeviceReset());
  OK(cudaMalloc(&device, 64));
  CHECK(cudaMallocManaged(&device, 64, cudaMemAttachGlobal) == cudaErrorNotSupported);
  return 0;
}

int main(void) { return devices() || memory(); }
