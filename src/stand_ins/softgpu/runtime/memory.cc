// Allocation, pinned host memory, pointer attributes, IPC.
#include "softgpu/runtime/call.h"

namespace gdr::softgpu::runtime {
namespace {

using namespace cuda;

CUresult allocate(const Driver& cu, void** out, std::size_t bytes) {
  *out = nullptr;
  if (bytes == 0) return CUDA_SUCCESS;
  CUdeviceptr address = 0;
  CUresult r = cu.mem_alloc(&address, bytes);
  *out = reinterpret_cast<void*>(address);
  return r;
}

}  // namespace

GDR_RT cudaMalloc(void** out, std::size_t bytes) {
  if (out == nullptr) return keep(cudaErrorInvalidValue);
  return call([&](const Driver& cu) { return allocate(cu, out, bytes); });
}

GDR_RT cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (out == nullptr || pitch == nullptr) return keep(cudaErrorInvalidValue);
  return call([&](const Driver& cu) {
    CUdeviceptr address = 0;
    *out = nullptr;
    *pitch = 0;
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    CUresult r = cu.mem_alloc_pitch(&address, pitch, width, height, 4);
    *out = reinterpret_cast<void*>(address);
    return r;
  });
}

GDR_RT cudaFree(void* address) {
  return call([&](const Driver& cu) { return cu.mem_free(address_of(address)); });
}

GDR_RT cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&](const Driver& cu) { return cu.mem_get_info(free, total); });
}

static cudaError_t host_alloc(void** out, std::size_t bytes, unsigned flags) {
  if (out == nullptr) return keep(cudaErrorInvalidValue);
  return call([&](const Driver& cu) {
    *out = nullptr;
    return bytes == 0 ? CUDA_SUCCESS : cu.mem_host_alloc(out, bytes, flags);
  });
}
GDR_RT cudaHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  return host_alloc(out, bytes, flags);
}
GDR_RT cudaMallocHost(void** out, std::size_t bytes) { return host_alloc(out, bytes, 0); }

GDR_RT cudaFreeHost(void* address) {
  return call([&](const Driver& cu) {
    return address == nullptr ? CUDA_SUCCESS : cu.mem_free_host(address);
  });
}

GDR_RT cudaHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return call([&](const Driver& cu) { return cu.mem_host_register(address, bytes, flags); });
}

GDR_RT cudaHostUnregister(void* address) {
  return call([&](const Driver& cu) { return cu.mem_host_unregister(address); });
}

GDR_RT cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  if (device == nullptr) return keep(cudaErrorInvalidValue);
  return call([&](const Driver& cu) {
    CUdeviceptr address = 0;
    CUresult r = cu.mem_host_get_device_pointer(&address, host, flags);
    if (r == CUDA_SUCCESS) *device = reinterpret_cast<void*>(address);
    return r;
  });
}

GDR_RT cudaHostGetFlags(unsigned* flags, void* address) {
  return call([&](const Driver& cu) { return cu.mem_host_get_flags(flags, address); });
}

GDR_RT cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  if (out == nullptr) return keep(cudaErrorInvalidValue);
  return call([&](const Driver& cu) {
    unsigned type = 0;
    int device = kDeviceInvalid;
    unsigned char managed = 0;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                    CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void* values[] = {&type, &device, &managed};
    if (CUresult r = cu.pointer_get_attributes(3, wanted, values, address_of(pointer))) return r;
    *out = {};
    out->device = device;
    // Memory the driver does not know can be used by the host only.
    if (type != CU_MEMORYTYPE_DEVICE || managed != 0) out->hostPointer = const_cast<void*>(pointer);
    if (type != 0) out->devicePointer = const_cast<void*>(pointer);
    out->type = managed != 0                   ? cudaMemoryTypeManaged
                : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                                               : cudaMemoryTypeUnregistered;
    return CUDA_SUCCESS;
  });
}

GDR_RT cudaIpcGetMemHandle(CUipcMemHandle* handle, void* address) {
  return call([&](const Driver& cu) { return cu.ipc_get_mem_handle(handle, address_of(address)); });
}

GDR_RT cudaIpcOpenMemHandle(void** out, CUipcMemHandle handle, unsigned flags) {
  if (out == nullptr) return keep(cudaErrorInvalidValue);
  return call([&](const Driver& cu) {
    CUdeviceptr address = 0;
    CUresult r = cu.ipc_open_mem_handle(&address, handle, flags);
    if (r == CUDA_SUCCESS) *out = reinterpret_cast<void*>(address);
    return r;
  });
}

GDR_RT cudaIpcCloseMemHandle(void* address) {
  return call([&](const Driver& cu) { return cu.ipc_close_mem_handle(address_of(address)); });
}

GDR_RT_ASYNC(cudaMallocAsync, (void** out, std::size_t bytes), (out, bytes), {
  if (out == nullptr) return keep(cudaErrorInvalidValue);
  return call([&](const Driver& cu) {
    CUdeviceptr address = 0;
    CUresult r = cu.mem_alloc_async(&address, bytes, stream);
    *out = reinterpret_cast<void*>(address);
    return r;
  });
})
GDR_RT_ASYNC(cudaMallocFromPoolAsync, (void** out, std::size_t bytes, CUmemoryPool pool),
             (out, bytes, pool), {
               if (out == nullptr) return keep(cudaErrorInvalidValue);
               return call([&](const Driver& cu) {
                 CUdeviceptr address = 0;
                 CUresult r = cu.mem_alloc_from_pool_async(&address, bytes, pool, stream);
                 *out = reinterpret_cast<void*>(address);
                 return r;
               });
             })
GDR_RT_ASYNC(cudaFreeAsync, (void* address), (address), {
  return call([&](const Driver& cu) { return cu.mem_free_async(address_of(address), stream); });
})

GDR_RT cudaDeviceGetDefaultMemPool(CUmemoryPool* pool, int device) {
  return call_driver(
      [&](const Driver& cu) { return cu.device_get_default_mem_pool(pool, device); });
}
GDR_RT cudaMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return call_driver([&](const Driver& cu) { return cu.mem_pool_create(pool, properties); });
}
GDR_RT cudaMemPoolDestroy(CUmemoryPool pool) {
  return call_driver([&](const Driver& cu) { return cu.mem_pool_destroy(pool); });
}
GDR_RT cudaMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  return call_driver([&](const Driver& cu) { return cu.mem_pool_trim_to(pool, bytes); });
}
GDR_RT cudaMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call_driver(
      [&](const Driver& cu) { return cu.mem_pool_set_attribute(pool, attribute, value); });
}
GDR_RT cudaMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call_driver(
      [&](const Driver& cu) { return cu.mem_pool_get_attribute(pool, attribute, value); });
}

}  // namespace gdr::softgpu::runtime
