#include "gpu_memory.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "../nvidia_stub/gpu_memory.h"
#include "fail.h"

namespace peermem_check {
namespace {

int device() {
  static const int fd = open(GPU_MEMORY_DEVICE, O_RDWR | O_CLOEXEC);
  if (fd < 0) fail(GPU_MEMORY_DEVICE);
  return fd;
}

}  // namespace

GpuMemory::GpuMemory(std::uint64_t address, std::size_t bytes) : bytes_(bytes) {
  gpu_memory asked{bytes, 0};
  if (ioctl(device(), GPU_MEMORY_ALLOCATE, &asked) != 0) fail("GPU_MEMORY_ALLOCATE");
  offset_ = asked.offset;
  void* data = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED_NOREPLACE, device(), static_cast<off_t>(offset_));
  if (data == MAP_FAILED) fail("mmap of GPU memory");
  data_ = static_cast<std::uint8_t*>(data);
}

GpuMemory::~GpuMemory() {
  munmap(data_, bytes_);
  free();
}

// A second time it is not there any more, which is no error here.
void GpuMemory::free() const {
  gpu_memory asked{bytes_, offset_};
  ioctl(device(), GPU_MEMORY_FREE, &asked);
}

void wait_for_driver(const std::string& counter) {
  const std::string path = "/sys/module/nvidia/parameters/" + counter;
  for (int i = 0; i < 6000; ++i) {
    int value = 0;
    if (std::ifstream(path) >> value && value != 0) return;
    usleep(10'000);
  }
  fail(path + " stays 0");
}

}  // namespace peermem_check
