// Kernel parameters that clear ACS redirects at each boot, as a GRUB drop-in.
//
//   std::map<std::string, std::string> ports = {{"0000:00:01.0/00.0/08.0", "x0100x1"}};
//   std::string parameter = boot_parameter(ports, KernelVersion{6, 12});
//   // "config_acs=x0100x1@0000:00:01.0/00.0/08.0"
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "fix/kernel_version.h"
#include "fix/record.h"

namespace gdr::fix {

// A port's path from the root bus, in the form of the kernel's parameters, because bus numbers
// change when a card is added. `path` as in Record. Empty if there is no such path.
std::string path_form(const std::string& path);

// By path form: bits 6 to 0 of the control register, as config_acs takes them.
using BootPorts = std::map<std::string, std::string>;

// 0 for the redirects. 1 for what is set now, since x would mean what firmware had set before the
// kernel came; x for the rest.
std::string boot_bits(std::uint16_t control);

// Without "pci=". Kernels before 6.11 only know disable_acs_redir; later ones set wrong bits for it
// (47c8846a49ba, until its repair).
std::string boot_parameter(const BootPorts& ports, KernelVersion kernel);
std::string grub_line(const std::string& parameter);
// The ports of such a line, or of a whole file with one.
BootPorts ports_of_grub_text(const std::string& text);

}  // namespace gdr::fix
