// The files of counters that a port has in /sys/class/infiniband/NAME/ports/1, and what they hold:
// the names of the kernel's ib_core (drivers/infiniband/core/sysfs.c), of its connection manager,
// of mlx5 and of rxe, as far as they mean something for a software NIC.
//
//   for (const Attribute& one : attributes()) std::printf("%s/%s\n", one.folder, one.name);
//   const std::uint64_t words = find_attribute("counters", "port_xmit_data")->value(values);
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ports/port_reader.h"

namespace gdr::ports {

struct Attribute {
  const char* folder;  // "counters", "hw_counters", "cm_rx_msgs"
  const char* name;
  std::uint64_t (*value)(const PortValues& values);
};

// In the order of the kernel's tables.
std::span<const Attribute> attributes();
const Attribute* find_attribute(std::string_view folder, std::string_view name);

// A settled number, not a count: the file "lifespan", in milliseconds.
inline constexpr char kLifespan[] = "lifespan";

}  // namespace gdr::ports
