// Is GDR_SOFT_GPUS right? Nothing and exit status 0 if it is, otherwise one line on standard output
// and exit status 2.
#include <cstdio>

#include "softgpu/device_config.h"

int main() {
  const auto config = gdr::softgpu::device_config_from_environment();
  if (config) return 0;
  std::puts(config.error().message.c_str());
  return 2;
}
