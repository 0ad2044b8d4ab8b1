// The links of PCI Express on a function's way to its host bridge.
//
//   function.links = links_along(function.path, [&](const std::string& address) {
//     return speeds.at(address);
//   });
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/files.h"
#include "host/pci/function.h"

namespace gdr::host {

// What one port says of its link; 0: not known.
struct PortSpeed {
  double speed = 0, most_speed = 0;  // GT/s a lane
  unsigned width = 0, most_width = 0;
  double bandwidth = 0;  // GB/s, where the source has that instead

  // What no link can have is not known: a virtual machine's width of 255.
  void set_speed(double gigatransfers);
  void set_most_speed(double gigatransfers);
  void set_width(long lanes);
  void set_most_width(long lanes);
  void set_bandwidth(double gigabytes);
};

// What sysfs says of each port. Whatever is below a port asks for it, so in a deep tree a port is
// asked for thousands of times, and is read once.
class PortSpeeds {
 public:
  explicit PortSpeeds(const Files& files) : files_(files) {}
  const PortSpeed& of(const std::string& address);

 private:
  const Files& files_;
  std::unordered_map<std::string, PortSpeed> known_;
};

// The most that both ends can do, as far as it is known.
PciLink link_between(const std::string& above, const PortSpeed& most_above,
                     const std::string& below, const PortSpeed& port);

// "32 GT/s x16"; "16 of 32 GT/s x8 of x16" where it could do more; "63 GB/s" where the source has
// that alone; empty where nothing is known.
std::string text_of(const PciLink& link);

// From below, every other pair of a path is a link; those between are inside of a switch.
std::vector<PciLink> links_along(
    const std::vector<std::string>& path,
    const std::function<PortSpeed(const std::string& address)>& speed_of);

}  // namespace gdr::host
