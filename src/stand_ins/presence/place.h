// Where in this machine's PCI tree a software NIC is shown: the folder that the kernel would make
// for a function of that address.
//
//   const Result<Place> place = find_place("", "0000:17:00.0");
//   if (place) puts(place->folder().c_str());  // /sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0
//
// The bus decides: the function stands where the others of its bus do, else below the bridge that
// leads to the bus. A bus that this machine does not have is shown with a host bridge of its own.
#pragma once

#include <string>

#include "base/result.h"

namespace gdr::presence {

struct Place {
  std::string address;  // 0000:17:00.0
  std::string parent;   // the folder of the bridge, "/sys/devices/..."
  bool parent_is_made_up = false;
  // As in the files of these names, of what is around.
  std::string numa_node, local_cpus, local_cpulist;

  std::string folder() const { return parent + "/" + address; }
  std::string bus() const { return address.substr(0, address.rfind(':')); }  // 0000:17
};

// `root`: what lies in front of /sys, for a machine that is not this one. `address`: as the kernel
// writes it. EADDRNOTAVAIL where the machine has a function of that address.
Result<Place> find_place(const std::string& root, const std::string& address);

}  // namespace gdr::presence
