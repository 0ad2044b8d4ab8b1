// What the environment says of the path between hosts.
//
//   GDR_SOFT_PATH=packets      also what would stay on this host goes by packets; default: auto
//   GDR_SOFT_PCAP=FILE         every packet that leaves or arrives, for Wireshark
//   GDR_SOFT_FAULTS=loss=0.01  faults on purpose: see faulty_port.h
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "net/faulty_port.h"

namespace gdr::net {

struct Settings {
  bool takes_everything = false;
  std::optional<std::string> pcap_file;
  std::optional<Faults> faults;
};

// EINVAL with one line that names the variable and what is allowed.
Result<Settings> settings_from_environment();

}  // namespace gdr::net
