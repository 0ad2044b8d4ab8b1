// DeviceBuffer: memory of the stand-in for an exporter of dma-bufs, and a look at its bytes.
//
//   DeviceBuffer buffer(1 << 20);
//   ibv_mr* region = ibv_reg_dmabuf_mr(pd, 0, buffer.bytes(), iova, buffer.fd(), rights);
//   buffer.move();
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace peermem_check {

class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes);
  // Another process's, by its descriptor.
  DeviceBuffer(std::size_t bytes, int fd);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  int fd() const { return fd_; }
  std::uint8_t* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  // To another place, with its bytes.
  void move() const;
  // What is now where the buffer that was moved last has been; the driver has put 0xdb there.
  std::vector<std::uint8_t> old_place() const;
  void close_descriptor();

 private:
  void map();

  std::size_t bytes_;
  int fd_ = -1;
  std::uint8_t* data_ = nullptr;
};

}  // namespace peermem_check
