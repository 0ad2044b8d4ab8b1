#include "device_buffer.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../dma_buf_stub/device_buffer.h"
#include "fail.h"

namespace peermem_check {
namespace {

int device() {
  static const int fd = open(DEVICE_BUFFER_DEVICE, O_RDWR | O_CLOEXEC);
  if (fd < 0) fail(DEVICE_BUFFER_DEVICE);
  return fd;
}

}  // namespace

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  device_buffer asked{bytes, -1, 0};
  if (ioctl(device(), DEVICE_BUFFER_EXPORT, &asked) != 0) fail("DEVICE_BUFFER_EXPORT");
  fd_ = asked.fd;
  map();
}

DeviceBuffer::DeviceBuffer(std::size_t bytes, int fd) : bytes_(bytes), fd_(fd) { map(); }

DeviceBuffer::~DeviceBuffer() {
  munmap(data_, bytes_);
  close_descriptor();
}

void DeviceBuffer::map() {
  void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (data == MAP_FAILED) fail("mmap of a dma-buf");
  data_ = static_cast<std::uint8_t*>(data);
}

void DeviceBuffer::move() const {
  device_buffer asked{bytes_, fd_, 0};
  if (ioctl(device(), DEVICE_BUFFER_MOVE, &asked) != 0) fail("DEVICE_BUFFER_MOVE");
}

std::vector<std::uint8_t> DeviceBuffer::old_place() const {
  void* data = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, device(), 0);
  if (data == MAP_FAILED) fail("mmap of what was left behind");
  const auto* begin = static_cast<const std::uint8_t*>(data);
  std::vector<std::uint8_t> bytes(begin, begin + bytes_);
  munmap(data, bytes_);
  return bytes;
}

void DeviceBuffer::close_descriptor() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace peermem_check
