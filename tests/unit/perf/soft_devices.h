// Devices of the software NIC in this process, for tests that need memory and queue pairs.
#pragma once

#include <gtest/gtest.h>

#include "perf/devices.h"

namespace gdr::perf {

// Opened once: the NIC lives as long as the process.
inline Devices& soft_devices() {
  static const std::unique_ptr<Devices> devices = [] {
    DeviceNames names;
    names.verbs = GDR_SOFT_VERBS;
    names.nic = "soft0";
    Result<std::unique_ptr<Devices>> opened = Devices::open(names);
    if (!opened) ADD_FAILURE() << opened.error().message;
    return *std::move(opened);
  }();
  return *devices;
}

}  // namespace gdr::perf
