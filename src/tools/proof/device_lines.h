// Lines about devices and about registrations, for the report as text.
#pragma once

#include <string>
#include <vector>

#include "proof/report.h"

namespace gdr::proof {

// All that is known, for the inventory: "0000:41:00.0  NVIDIA H200  141 GiB  NUMA 0  …".
std::string gpu_line(const GpuEntry& gpu);
std::string nic_line(const NicEntry& nic, const NicPort& port);

// For the two lines of a pair: "0000:41:00.0  NVIDIA H200  141 GiB", and for a port
// "0000:45:00.0  ens1np0  400 Gb/s Ethernet  active  firmware 28.39.1002".
std::string brief_gpu_line(const GpuEntry& gpu);
std::string brief_nic_line(const NicEntry& nic, const NicPort& port);

std::string_view registration_text(Registration registration);

// Registrations that worked, a line for each GPU and NIC: "GPU 0 with soft1 by dma-buf and peer
// memory (cuMemAlloc, cuMemCreate)".
std::vector<std::string> accepted_lines(const std::vector<RegistrationResult>& results);

// Those that did not; kinds of memory that failed alike share a line.
struct RefusedLine {
  Registration registration = Registration::kDmaBuf;
  std::string memory;  // "cuMemAlloc, cuMemCreate"
  std::string detail;
};
std::vector<RefusedLine> refused_lines(const std::vector<RegistrationResult>& results);

}  // namespace gdr::proof
