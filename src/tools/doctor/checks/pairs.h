// The pairs of a GPU and a NIC whose way to each other matters: each GPU with its best NIC, and
// with the others that sit below the same switches. Pairs through the CPU are left out where there
// is a better one, since nobody should use them.
//
//   for (const GpuPairs& gpu : pairs_of(host.inventory))
//     for (const Pair& pair : gpu.pairs) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/grade.h"
#include "host/inventory.h"

namespace gdr::doctor {

struct Pair {
  const host::Gpu* gpu = nullptr;
  const host::Nic* nic = nullptr;
  host::PciPath grade = host::PciPath::kSys;

  // Below one switch, or several: a transfer need not reach the CPU.
  bool below_switch() const { return grade <= host::PciPath::kPxb; }
};

struct GpuPairs {
  const host::Gpu* gpu = nullptr;
  std::vector<Pair> pairs;  // the best first; none where no NIC's way is known
  std::string why;          // the first is the best: "nearest; mlx5_3 is at PXB"
};

// The best NIC is the one that host/best_nic.h chooses, as gdr topo shows it.
std::vector<GpuPairs> pairs_of(const host::Inventory& inventory);

// Why there is no pair: "no RDMA NIC".
std::string why_no_pairs(const host::Inventory& inventory);

// "mlx5_0", or its address where it has no RDMA name.
std::string label(const host::Nic& nic);
std::string label(const host::Gpu& gpu);
// "GPU 0000:19:00.0 - mlx5_0"
std::string subject_of(const Pair& pair);

}  // namespace gdr::doctor
