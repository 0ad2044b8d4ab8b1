#include "render/shown.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "softgpu/device_config.h"

namespace gdr::render {
namespace {

// Nothing but digits, as the kernel writes them.
int number_of(std::string_view digits) {
  int number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [parsed, error] = std::from_chars(digits.data(), end, number);
  const bool is_number = error == std::errc{} && parsed == end && number >= kFirstNumber;
  return is_number && number <= kLastNumber ? number : -1;
}

}  // namespace

Shown shown_from_environment() {
  const char* text = std::getenv(kFirstVariable);
  const int first = text != nullptr ? number_of(text) : -1;
  if (first < 0) return {};
  const Result<softgpu::DeviceConfig> config = softgpu::device_config_from_environment();
  if (!config) return {};
  return {first, std::min(config->count, kLastNumber - first + 1), config->bytes};
}

int gpu_at(std::string_view path, const Shown& shown) {
  if (!path.starts_with(kPrefix)) return -1;
  const int gpu = number_of(path.substr(kPrefix.size())) - shown.first;
  return gpu >= 0 && gpu < shown.count ? gpu : -1;
}

}  // namespace gdr::render
