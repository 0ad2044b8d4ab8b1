// Which GPUs and NICs are tried together: each GPU with every NIC port that no CPU lies before, and
// where there is none, with the nearest.
//
//   for (const NamedPairing& named : choose_pairings(inventory, cuda)) prove(named.pairing);
#pragma once

#include <string>
#include <vector>

#include "doctor/probes.h"
#include "host/inventory.h"

namespace gdr::doctor {

struct NamedPairing {
  Pairing pairing;
  std::string subject;  // "GPU 0000:19:00.0 - mlx5_0"
};

// Chooses only hardware with active ports.
std::vector<NamedPairing> choose_pairings(const host::Inventory& inventory, const CudaFacts& cuda);

}  // namespace gdr::doctor
