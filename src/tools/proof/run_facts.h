// RunFacts: on which host, when and with what the proof ran: the first line of its report, without
// which a verdict in a ticket says little.
//
//   head_line({"node7", "2026-11-26 10:12 UTC", "0.2.0", "6.8.0-45-generic", "570.86.15 (open)"})
#pragma once

#include <string>

#include "process/codec.h"

namespace gdr::proof {

struct RunFacts {
  std::string host;        // its name
  std::string date;        // "2026-11-26 10:12 UTC"
  std::string version;     // gdrkit's
  std::string kernel;      // release; empty: not known
  std::string gpu_driver;  // "570.86.15 (open)"; empty: none is loaded
  GDR_FIELDS(host, date, version, kernel, gpu_driver)
};

// "gdrkit 0.2.0 on node7, 2026-11-26 10:12 UTC; Linux 6.8.0-45-generic; no NVIDIA driver"
std::string head_line(const RunFacts& facts);

}  // namespace gdr::proof
