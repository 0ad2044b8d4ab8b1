#include "verbs/device.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "rnic/gids.h"
#include "verbs/abi.h"
#include "verbs/errors.h"

namespace gdr::verbs {
namespace {

// driver.h of rdma-core 44, x86-64 and AArch64.
static_assert(offsetof(Device, base) == 0);
static_assert(sizeof(ibv_device) == 664);
static_assert(offsetof(Device, ops) == 664);
static_assert(offsetof(Device, references) == 672);
static_assert(offsetof(Device, list_entry) == 680);
static_assert(offsetof(Device, sysfs) == 696);
static_assert(offsetof(Device, core_support) == 704);

const char kNoProviderOps = 0;  // an address that is no provider's

struct Table {
  int error = 0;
  std::vector<std::unique_ptr<Device>> devices;
};

void copy_name(char* to, std::size_t size, const std::string& from) {
  const std::size_t length = std::min(size - 1, from.size());
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

std::unique_ptr<Device> make_device(const rnic::DeviceConfiguration& configuration,
                                    std::uint32_t index) {
  auto device = std::make_unique<Device>();
  device->base.node_type = IBV_NODE_CA;
  device->base.transport_type = IBV_TRANSPORT_IB;
  copy_name(device->base.name, sizeof device->base.name, configuration.name);
  copy_name(device->base.dev_name, sizeof device->base.dev_name, "uverbs" + std::to_string(index));
  // The path of a kernel device of this name. Programs look for its PCI device there, and work
  // without it.
  copy_name(device->base.dev_path, sizeof device->base.dev_path,
            "/sys/class/infiniband_verbs/uverbs" + std::to_string(index));
  copy_name(device->base.ibdev_path, sizeof device->base.ibdev_path,
            "/sys/class/infiniband/" + configuration.name);
  device->ops = &kNoProviderOps;
  device->index = index;
  device->configuration = configuration;
  return device;
}

// Read once: the devices of a process do not change, and stay until it ends.
const Table& table() {
  static const Table* const kTable = [] {
    auto* made = new Table;
    const Result<std::vector<rnic::DeviceConfiguration>>& found = rnic::devices_of_process();
    if (!found) {
      made->error = found.error().code;
      return made;
    }
    for (const rnic::DeviceConfiguration& configuration : *found) {
      made->devices.push_back(
          make_device(configuration, static_cast<std::uint32_t>(made->devices.size())));
    }
    return made;
  }();
  return *kTable;
}

}  // namespace

__be64 Device::guid() const { return configuration.guid(); }  // in network order already

ibv_device** get_device_list(int* count) {
  if (count != nullptr) *count = 0;
  return or_null([&]() -> ibv_device** {
    const Table& all = table();
    if (all.error != 0) return fail(all.error);
    auto** list = static_cast<ibv_device**>(calloc(all.devices.size() + 1, sizeof(ibv_device*)));
    if (list == nullptr) return fail(ENOMEM);
    std::transform(all.devices.begin(), all.devices.end(), list,
                   [](const auto& device) { return &device->base; });
    if (count != nullptr) *count = static_cast<int>(all.devices.size());
    return list;
  });
}

void free_device_list(ibv_device** list) { free(list); }

const Device* find_device_by_gid(const ibv_gid& gid) {
  for (const auto& device : table().devices) {
    if (rnic::gid_index_of(device->configuration, gid.raw, rnic::GidType::kRoceV2)) {
      return device.get();
    }
  }
  return nullptr;
}

}  // namespace gdr::verbs

using gdr::verbs::device_of;

GDR_EXPORT ibv_device** ibv_get_device_list(int* count) {
  return gdr::verbs::get_device_list(count);
}
GDR_EXPORT void ibv_free_device_list(ibv_device** list) { gdr::verbs::free_device_list(list); }
GDR_EXPORT const char* ibv_get_device_name(ibv_device* device) { return device->name; }
GDR_EXPORT __be64 ibv_get_device_guid(ibv_device* device) { return device_of(device).guid(); }
GDR_EXPORT int ibv_get_device_index(ibv_device* device) {
  return static_cast<int>(device_of(device).index);
}
