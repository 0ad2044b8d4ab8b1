// GDR_SOFT_GPUS: how many software GPUs there are and how large each is. GDR_SOFT_DMA_BUF: what
// their dma-bufs tell.
//
//   Result<softgpu::DeviceConfig> config = softgpu::parse_device_config("4:16G");
//   if (!config) { print(config.error().message); return 2; }
//
// The library itself reads the same variable in cuInit, and answers a wrong value with
// CUDA_ERROR_INVALID_VALUE; `gdr` checks it first so that the user sees the reason.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace gdr::softgpu {

inline constexpr char kDeviceVariable[] = "GDR_SOFT_GPUS";
inline constexpr char kDmaBufVariable[] = "GDR_SOFT_DMA_BUF";
inline constexpr int kMostDevices = 16;
inline constexpr std::uint64_t kLeastDeviceBytes = 64ull << 20;
inline constexpr std::uint64_t kMostDeviceBytes = 1ull << 40;

struct DeviceConfig {
  int count = 2;
  std::uint64_t bytes = 8ull << 30;  // of each device
};

// "COUNT" or "COUNT:SIZE", SIZE with M, G or T; EINVAL with one line otherwise.
Result<DeviceConfig> parse_device_config(std::string_view text);

// The environment's, or the default when the variable is unset or empty.
Result<DeviceConfig> device_config_from_environment();

enum class DmaBufKind {
  kNamed,      // their name says what they stand for; unset
  kAnonymous,  // it does not, as a real driver's ("anonymous")
  kKernel,     // the kernel's own, which drivers of real NICs take ("udmabuf")
};

// EINVAL with one line for any other value.
Result<DmaBufKind> dma_buf_kind_from_environment();

}  // namespace gdr::softgpu
