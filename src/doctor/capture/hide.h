// What a capture leaves out of what it holds: whatever could tell secrets, or who owns a machine.
//
// MAC addresses and GIDs stay, since they join the names of a NIC.
#pragma once

#include <string>

namespace gdr::doctor {

// By the path under which it was asked for:
// - UUIDs and what stands behind the word "serial", everywhere;
// - of a kernel's command line the values of parameters that no check asks for;
// - of an environment all but the variables that checks look at, and of these what looks secret;
// - addresses of the kernel's symbols.
std::string hide(const std::string& path, std::string content);

// Configuration space with its Device Serial Number (PCI Express Base Specification 6.0, 7.9.3) set
// to zero.
std::string without_serial_number(std::string space);

// The lines of the kernel's log that are about GPUs, NICs, PCIe and modules.
std::string relevant_log(const std::string& log);

// Whether a variable may hold something that opens a door.
bool looks_secret(const std::string& name, const std::string& value);

}  // namespace gdr::doctor
