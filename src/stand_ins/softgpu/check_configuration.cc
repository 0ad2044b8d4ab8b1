// Are GDR_SOFT_GPUS and GDR_SOFT_DMA_BUF right? Nothing and exit status 0 if they are, otherwise
// one line on standard output and exit status 2.
#include <cstdio>

#include "base/printable.h"
#include "softgpu/device_config.h"

int main() {
  const auto config = gdr::softgpu::device_config_from_environment();
  const auto anonymous = gdr::softgpu::anonymous_dma_bufs_from_environment();
  if (config && anonymous) return 0;
  std::puts(gdr::printable((config ? anonymous.error() : config.error()).message).c_str());
  return 2;
}
