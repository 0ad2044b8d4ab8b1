// Access Control Services of a port: the three bits that send transfers between two devices below a
// switch up to the root port and back (PCI Express Base Specification 6.0, 7.7.11.3) are cleared,
// all others kept. Those three are what the kernel's disable_acs_redir clears (commit aaca43fd).
//
//   Result<AccessControlPort> port = read_access_control_port(machine, "0000:18:00.0");
//   Record record = without_redirects(*port);
#pragma once

#include <cstdint>
#include <string>

#include "fix/pci_registers.h"
#include "fix/record.h"

namespace gdr::fix {

struct AccessControlPort {
  PciIdentity who;
  bool is_root_port = false;
  unsigned offset = 0;  // of the capability
  std::uint16_t control = 0;
};

// ENOTSUP: neither a root port nor a downstream port of a switch, or without the capability.
Result<AccessControlPort> read_access_control_port(const Machine& machine,
                                                   const std::string& address);

// Its old and new value are the same where no redirect is set.
Record without_redirects(const AccessControlPort& port);

// "0x001d"
std::string register_text(std::uint16_t value);
// Nothing for any other text.
std::optional<std::uint16_t> read_register_text(const Value& text);

}  // namespace gdr::fix
