// What the software NIC says of its devices, asked through the public verbs interface: there is no
// second list of facts. Verbs know nothing of PCI, so the address there comes from
// GDR_SOFT_DEVICES.
//
//   Result<std::vector<DeviceFacts>> devices = read_devices();
//   for (const DeviceFacts& device : *devices) puts(device.name.c_str());
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "presence/place.h"

namespace gdr::presence {

struct GidFacts {
  std::uint32_t index = 0;
  std::uint8_t raw[16] = {};
  bool is_v2 = false;
  std::string interface;  // empty: none of this host's
};

struct DeviceFacts {
  std::string name;       // soft0
  std::string node_name;  // uverbs0
  std::string firmware;
  std::uint64_t node_guid = 0, system_guid = 0;  // in network order, as verbs has them
  std::uint32_t hardware_version = 0;
  ibv_port_attr port{};
  std::vector<GidFacts> gids;
  std::vector<std::uint16_t> partition_keys;  // in host order
  std::string interface;                      // that has its address, "eth0"; empty: none, loopback
  std::optional<Place> place;                 // in the PCI tree
};

// ENODEV and the like where the library has no devices, EADDRNOTAVAIL and the like where a device
// cannot be where GDR_SOFT_DEVICES wants it, with one line.
Result<std::vector<DeviceFacts>> read_devices();

}  // namespace gdr::presence
