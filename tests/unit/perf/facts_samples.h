// Made-up sides for tests: a host whose NIC and GPU sit below one switch, all well.
#pragma once

#include <string>

#include "perf/limits/facts.h"

namespace gdr::perf {

inline Pcie sample_pcie(const std::string& root, const std::string& port,
                        const std::string& address, double speed = 16, std::uint32_t width = 16) {
  Pcie pcie;
  pcie.path = {root, "0000:00:01.0", "0000:01:00.0", port, address};
  pcie.links = {{port, address, speed, speed, width, width},
                {"0000:00:01.0", "0000:01:00.0", 16, 16, 16, 16}};
  pcie.numa_node = 0;
  pcie.max_payload = 256;
  pcie.max_read_request = 4096;
  pcie.relaxed_ordering = Switch::kOn;
  return pcie;
}

inline Facts sample_side(const std::string& host) {
  Facts facts;
  facts.host = host;
  facts.machine = "boot of " + host;
  facts.nics = {{"mlx5_0", "ens1", 1, false, true, 200e9, 4096,
                 sample_pcie("pci0000:00", "0000:02:00.0", "0000:03:00.0")}};
  facts.gpus.push_back({0, false, sample_pcie("pci0000:00", "0000:02:01.0", "0000:04:00.0")});
  facts.numa_node = 0;
  facts.cores = 32;
  facts.memory_copy = 12e9;
  facts.message_copy = 40e9;
  return facts;
}

inline Facts software_side(const std::string& host) {
  Facts facts = sample_side(host);
  facts.nics = {{"soft0", "", 1, true, true, 0, 1024, {}}};
  facts.gpus = {{0, true, {}}};
  facts.numa_node = -1;
  return facts;
}

}  // namespace gdr::perf
