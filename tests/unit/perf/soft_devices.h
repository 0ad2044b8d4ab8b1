// Devices of the software NIC in this process, for tests that need memory and queue pairs.
#pragma once

#include <gtest/gtest.h>

#include "perf/devices.h"

namespace gdr::perf {

inline DeviceNames soft_names(const char* nic) {
  DeviceNames names;
  names.verbs = GDR_SOFT_VERBS;
  names.nic = nic;
  return names;
}

// Opened once: the NIC lives as long as the process.
inline const Ports& soft_ports() {
  static const Ports ports = [] {
    Result<Ports> opened = open_ports({soft_names("soft0")});
    if (!opened) ADD_FAILURE() << opened.error().message;
    return *std::move(opened);
  }();
  return ports;
}
inline Devices& soft_devices() { return *soft_ports().front(); }

}  // namespace gdr::perf
