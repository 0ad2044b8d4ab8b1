// What checks of the configuration space share.
#pragma once

#include <string>

#include "doctor/check.h"
#include "doctor/host.h"
#include "host/pci/function.h"

namespace gdr::doctor {

// Virtual functions have no settings of their own: theirs read as zero, and the physical
// function's are in force (PCI Express Base Specification 6.0, 9.3.5.4). A guest does not know
// that it has one but by its device number.
bool settings_are_elsewhere(const host::PciFunction& function);

// For devices whose configuration space could not be read.
Finding not_readable(const Host& host, const std::string& what, const std::string& example);

// "/sys/bus/pci/devices/0000:1a:00.0/config"
std::string config_of(const host::PciFunction& function);

}  // namespace gdr::doctor
