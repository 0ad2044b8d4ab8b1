// Are GDR_SOFT_GPUS and GDR_SOFT_DMA_BUF right? Nothing and exit status 0 if they are, otherwise
// one line on standard output and exit status 2.
#include <cstdio>

#include "base/printable.h"
#include "softgpu/device_config.h"

int main() {
  const auto config = gdr::softgpu::device_config_from_environment();
  const auto dma_bufs = gdr::softgpu::dma_buf_kind_from_environment();
  if (config && dma_bufs) return 0;
  std::puts(gdr::printable((config ? dma_bufs.error() : config.error()).message).c_str());
  return 2;
}
