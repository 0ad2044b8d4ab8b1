// Where the counters of this account's ports lie: a folder for each network namespace, which is a
// host to the software NIC.
//
//   const std::string folder = port_folder("/tmp/gdrkit-1000");  // its "ports-4026531840"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/port_reader.h"

namespace gdr::ports {

// A folder of this account's own that nobody else can write to: $XDG_RUNTIME_DIR, or
// /tmp/gdrkit-UID, which is made.
Result<std::string> account_folder();

// In a folder of the account's own. Made; those of other network namespaces are removed that
// nobody has used for days. Empty: it cannot be had.
std::string port_folder(const std::string& account_folder);

struct NamedPort {
  std::string file;  // file_name_of()
  std::string name;  // the device's
  PortValues values;
};

// By name.
std::vector<NamedPort> read_ports(const std::string& folder);

}  // namespace gdr::ports
