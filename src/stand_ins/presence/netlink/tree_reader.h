// What /sys/class/infiniband says of RDMA devices, for one look at a time.
//
//   TreeReader tree("");                      // the machine's own /sys
//   for (std::uint32_t i = 0; i < tree.devices(); ++i) puts(tree.name(i));
//
// Nothing is allocated but by opendir(). Files that are missing or odd read as 0 or as empty.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr::presence::netlink {

inline constexpr std::size_t kMostText = 64;  // with its 0

struct Text {
  char bytes[kMostText] = {};
};

class TreeReader {
 public:
  static constexpr std::uint32_t kMostDevices = 128;

  explicit TreeReader(const char* root);  // "/tmp/tree"; must outlive the reader

  // In the order of their names; a device's place in it is its index.
  std::uint32_t devices() const { return count_; }
  const char* name(std::uint32_t device) const { return names_[device].bytes; }
  std::uint32_t ports(std::uint32_t device) const;
  Text firmware(std::uint32_t device) const;
  std::uint64_t guid(std::uint32_t device, const char* file) const;  // as the kernel's number
  std::uint8_t node_type(std::uint32_t device) const;
  // "state", "phys_state": the number in front of the colon.
  std::uint8_t port_number(std::uint32_t device, std::uint32_t port, const char* file) const;
  Text interface(std::uint32_t device, std::uint32_t port) const;  // empty: it has none

 private:
  void add(const char* name);
  Text read(std::uint32_t device, const char* file) const;

  const char* root_;
  std::uint32_t count_ = 0;
  Text names_[kMostDevices];
};

}  // namespace gdr::presence::netlink
