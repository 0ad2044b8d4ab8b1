#include "softgpu/device_config.h"

#include "base/environment.h"

namespace gdr::softgpu {
namespace {

Error wrong(std::string_view text) {
  return Error{EINVAL, std::string(kDeviceVariable) + "=" + std::string(text) +
                           ": expected COUNT or COUNT:SIZE with COUNT 1 to 16 and SIZE 64M to 1T, "
                           "for example 4 or 4:16G"};
}

int shift_of(char unit) {
  switch (unit) {
    case 'M':
      return 20;
    case 'G':
      return 30;
    case 'T':
      return 40;
    default:
      return 0;
  }
}

}  // namespace

Result<DeviceConfig> parse_device_config(std::string_view text) {
  DeviceConfig config;
  const auto parts = split(text, ':');
  if (parts.empty() || parts.size() > 2) return wrong(text);
  Result<std::uint64_t> count = parse_number(parts[0], 1, kMostDevices);
  if (!count) return wrong(text);
  config.count = static_cast<int>(*count);
  if (parts.size() == 1) return config;
  if (parts[1].empty()) return wrong(text);
  const int shift = shift_of(parts[1].back());
  if (shift == 0) return wrong(text);
  Result<std::uint64_t> units =
      parse_number(parts[1].substr(0, parts[1].size() - 1), 1, kMostDeviceBytes >> shift);
  if (!units) return wrong(text);
  config.bytes = *units << shift;
  if (config.bytes < kLeastDeviceBytes) return wrong(text);
  return config;
}

Result<DeviceConfig> device_config_from_environment() {
  auto text = environment(kDeviceVariable);
  return text ? parse_device_config(*text) : Result<DeviceConfig>(DeviceConfig{});
}

Result<DmaBufKind> dma_buf_kind_from_environment() {
  const auto text = environment(kDmaBufVariable);
  if (!text) return DmaBufKind::kNamed;
  if (*text == "anonymous") return DmaBufKind::kAnonymous;
  if (*text == "udmabuf") return DmaBufKind::kKernel;
  return Error{EINVAL, std::string(kDmaBufVariable) + "=" + *text +
                           ": expected anonymous or udmabuf, or unset for dma-bufs that show their "
                           "memory"};
}

}  // namespace gdr::softgpu
