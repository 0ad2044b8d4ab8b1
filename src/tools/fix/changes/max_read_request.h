// Max_Read_Request_Size of a NIC: bits 14:12 of the Device Control register (PCI Express Base
// Specification 6.0, 7.5.3.4), all others kept as they are at that moment: drivers change those.
#pragma once

#include <string>

#include "fix/pci_registers.h"
#include "fix/record.h"

namespace gdr::fix {

constexpr unsigned kBestReadRequest = 4096;

struct ReadRequestState {
  PciIdentity who;
  unsigned offset = 0;  // of the PCI Express capability
  unsigned bytes = 0;
};

// ENOTSUP: no endpoint.
Result<ReadRequestState> read_max_read_request(const Machine& machine, const std::string& address);

Record with_best_read_request(const ReadRequestState& state);

}  // namespace gdr::fix
