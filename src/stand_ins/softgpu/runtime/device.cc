// Devices: number, choice, attributes, properties.
#include "softgpu/runtime/call.h"

namespace gdr::softgpu::runtime {

using namespace cuda;

GDR_RT cudaGetDeviceCount(int* count) {
  if (count == nullptr) return keep(cudaErrorInvalidValue);
  *count = 0;
  return call_driver([&](const Driver& cu) { return cu.device_get_count(count); });
}

GDR_RT cudaSetDevice(int device) {
  return call_driver([&](const Driver& cu) {
    CUcontext context = nullptr;
    if (CUresult r = retain_primary(cu, device, &context)) return r;
    current_device() = device;
    return cu.ctx_set_current(context);
  });
}

GDR_RT cudaInitDevice(int device, unsigned, unsigned) {
  return call_driver([&](const Driver& cu) {
    CUcontext context = nullptr;
    return retain_primary(cu, device, &context);
  });
}

GDR_RT cudaGetDevice(int* device) {
  if (device == nullptr) return keep(cudaErrorInvalidValue);
  return call_driver([&](const Driver& cu) {
    CUcontext context = nullptr;
    if (cu.ctx_get_current(&context) == CUDA_SUCCESS && context != nullptr &&
        cu.ctx_get_device(device) == CUDA_SUCCESS) {
      return CUDA_SUCCESS;
    }
    *device = current_device();
    return CUDA_SUCCESS;
  });
}

GDR_RT cudaDeviceSynchronize() {
  return call([](const Driver& cu) { return cu.ctx_synchronize(); });
}

GDR_RT cudaDeviceReset() {
  return call_driver([](const Driver& cu) {
    const int device = current_device();
    forget_primary(device);
    return cu.device_primary_ctx_reset(device);
  });
}

GDR_RT cudaDeviceGetAttribute(int* value, CUdevice_attribute attribute, int device) {
  if (value == nullptr) return keep(cudaErrorInvalidValue);
  return call_driver(
      [&](const Driver& cu) { return cu.device_get_attribute(value, attribute, device); });
}

GDR_RT cudaDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, int device,
                                 int peer) {
  return call_driver([&](const Driver& cu) {
    if (cu.device_get_p2p_attribute == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    return cu.device_get_p2p_attribute(value, attribute, device, peer);
  });
}

GDR_RT cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call_driver(
      [&](const Driver& cu) { return cu.device_get_pci_bus_id(text, length, device); });
}

GDR_RT cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call_driver([&](const Driver& cu) { return cu.device_get_by_pci_bus_id(device, text); });
}

GDR_RT cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call_driver(
      [&](const Driver& cu) { return cu.device_can_access_peer(can, device, peer); });
}

GDR_RT cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&](const Driver& cu) {
    CUcontext context = nullptr;
    if (CUresult r = retain_primary(cu, peer, &context)) return r;
    return cu.ctx_enable_peer_access(context, flags);
  });
}

GDR_RT cudaDeviceDisablePeerAccess(int peer) {
  return call([&](const Driver& cu) {
    CUcontext context = nullptr;
    if (CUresult r = retain_primary(cu, peer, &context)) return r;
    return cu.ctx_disable_peer_access(context);
  });
}

GDR_RT cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](const Driver& cu) { return cu.ctx_get_stream_priority_range(least, greatest); });
}

GDR_RT cudaDeviceFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                          CUflushGPUDirectRDMAWritesScope scope) {
  return call([&](const Driver& cu) {
    if (cu.flush_gpu_direct_rdma_writes == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    return cu.flush_gpu_direct_rdma_writes(target, scope);
  });
}

// Driver functions by name, as programs that avoid linking libcuda ask for them.
static cudaError_t entry_point(const char* symbol, void** function, unsigned version,
                               unsigned long long flags, CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return keep(cudaErrorInvalidValue);
  return call_driver([&](const Driver& cu) {
    if (cu.get_proc_address == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    return cu.get_proc_address(symbol, function, static_cast<int>(version), flags, status);
  });
}

GDR_RT cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                               CUdriverProcAddressQueryResult* status) {
  return entry_point(symbol, function, GDR_CUDART_MAJOR * 1000, flags, status);
}
GDR_RT cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long flags,
                                    CUdriverProcAddressQueryResult* status) {
  return entry_point(symbol, function, GDR_CUDART_MAJOR * 1000,
                     flags | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, status);
}
GDR_RT cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                        unsigned long long flags,
                                        CUdriverProcAddressQueryResult* status) {
  return entry_point(symbol, function, version, flags, status);
}
GDR_RT cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             CUdriverProcAddressQueryResult* status) {
  return entry_point(symbol, function, version,
                     flags | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, status);
}

}  // namespace gdr::softgpu::runtime
