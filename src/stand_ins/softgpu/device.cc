// Devices: how many, their names, and identities that no hardware has.
#include <cstdio>
#include <cstring>

#include "softgpu/process.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr unsigned kPciDomain = kSoftPciDomain;

CUresult get_uuid(CUuuid* uuid, CUdevice device) {
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    std::memcpy(uuid->bytes, "gdrkit-soft-gpu", 15);
    uuid->bytes[15] = static_cast<char>(device);
    return CUDA_SUCCESS;
  });
}

}  // namespace

GDR_CU cuDeviceGetCount(int* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    *count = process.config().count;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceGet(CUdevice* device, int ordinal) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    if (!process.is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceGetName(char* name, int length, CUdevice device) {
  if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", kDeviceName);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return get_uuid(uuid, device); }
GDR_CU cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) { return get_uuid(uuid, device); }

GDR_CU cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = process.config().bytes;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *major = kComputeMajor;
    *minor = kComputeMinor;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  constexpr int kLength = sizeof "FFFE:01:00.0";
  if (text == nullptr || length < kLength) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    std::snprintf(text, static_cast<std::size_t>(length), "%04X:%02X:00.0", kPciDomain,
                  static_cast<unsigned>(device + 1));
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  if (device == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    unsigned function = 0;
    const int fields = std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function);
    const int ordinal = static_cast<int>(bus) - 1;
    if (fields < 3 || domain != kPciDomain || slot != 0 || function != 0 ||
        !process.is_device(ordinal)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    if (!process.is_device(device) || !process.is_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice device,
                               CUdevice peer) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) {
    if (!process.is_device(device) || !process.is_device(peer) || device == peer) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    switch (attribute) {
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

}  // namespace gdr::softgpu
