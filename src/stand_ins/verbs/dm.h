// Device memory. This device has none of its own: it is memory of the process, which only the
// functions of its ibv_dm and regions made of it reach. Counted from zero, as on hardware.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace gdr::verbs {

constexpr std::uint64_t kDeviceMemory = std::uint64_t{16} << 20;  // of a process, at one time

class DeviceMemory {
 public:
  // Null and errno: ENOMEM when too much is taken.
  static std::shared_ptr<DeviceMemory> allocate(std::size_t length);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* bytes() const { return bytes_; }
  std::size_t length() const { return length_; }
  bool holds(std::uint64_t offset, std::uint64_t length) const {
    return offset <= length_ && length <= length_ - offset;
  }
  std::atomic<int> regions{0};

 private:
  DeviceMemory(std::byte* bytes, std::size_t length) : bytes_(bytes), length_(length) {}
  std::byte* const bytes_;
  const std::size_t length_;
};

struct Dm {
  ibv_dm base{};
  std::shared_ptr<DeviceMemory> memory;
  std::uint64_t serial = 0;
};
inline Dm& dm_of(ibv_dm* dm) { return *reinterpret_cast<Dm*>(dm); }

}  // namespace gdr::verbs
