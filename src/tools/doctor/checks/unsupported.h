// What checks say of GPUs and NICs that gdr recognises and does not support.
//
//   unsupported_text(host.inventory, host::UnsupportedDevice::Kind::kGpu)
//   // "8 x AMD Aqua Vanjaram [Instinct MI300X] (0000:05:00.0, ...)"
#pragma once

#include <string>

#include "host/inventory.h"

namespace gdr::doctor {

// Empty: there is none.
std::string unsupported_text(const host::Inventory& inventory, host::UnsupportedDevice::Kind kind);

}  // namespace gdr::doctor
