// Device: what ibv_get_device_list hands out, one for each entry of the device table.
//
//   int count = 0;
//   ibv_device** list = get_device_list(&count);
//   const Device& device = device_of(list[0]);
//   free_device_list(list);
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

#include "rnic/device_table.h"

namespace gdr::verbs {

// The head is rdma-core's private verbs_device: libmlx5 and libefa read `ops` of any device to see
// whether it is one of theirs.
struct Device {
  ibv_device base;
  const void* ops;
  std::atomic<int> references;
  void* list_entry[2];
  void* sysfs;
  std::uint64_t core_support;

  std::uint32_t index;
  rnic::DeviceConfiguration configuration;

  __be64 guid() const;
};

inline Device& device_of(ibv_device* device) { return *reinterpret_cast<Device*>(device); }

// The verbs of the same names; for use within the library.
ibv_device** get_device_list(int* count);
void free_device_list(ibv_device** list);

// The device of this process's table with that GID, or null.
const Device* find_device_by_gid(const ibv_gid& gid);

}  // namespace gdr::verbs
