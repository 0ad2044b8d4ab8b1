// Choosing devices: which GPUs, and which two NIC ports, of what the libraries found. Pure. A
// starts the transfers; B is the other end, beside the GPU that counts.
//
//   DeviceWishes wishes;
//   wishes.nic = "mlx5_0:1";
//   Result<std::vector<Selection>> pairs = select_devices(inventory, wishes);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "participants/inventory.h"

namespace gdr::participants {

struct DeviceWishes {
  std::optional<std::string> gpu;       // B's: ordinal, PCI address or UUID
  std::optional<std::string> from_gpu;  // A's; nothing: the same
  std::optional<std::string> nic;       // A: NAME, NAME:PORT, netdev or PCI address
  std::optional<std::string> peer_nic;  // B
  bool all = false;                     // every GPU with every port, then each two GPUs
};

struct PortChoice {
  std::string nic;
  std::uint8_t port = 1;
  bool ethernet = true;
  bool operator==(const PortChoice& other) const { return nic == other.nic && port == other.port; }
  std::string text() const { return port == 1 ? nic : nic + ":" + std::to_string(port); }
};

struct Selection {
  int near_gpu = 0, far_gpu = 0;            // ordinals
  std::string near_gpu_text, far_gpu_text;  // empty: no GPU takes part
  PortChoice near, far;
  std::string near_host, far_host;  // empty: both on this host

  bool has_two_hosts() const { return !far_host.empty(); }
  bool has_two_gpus() const { return has_two_hosts() || near_gpu != far_gpu; }
};

// The pairs: one, or with `all` every GPU with every NIC port as its neighbour, then each two GPUs
// through the ports nearest to them. EINVAL (wrong use) names the unknown device and what
// there is; ENODEV: there is nothing usable.
Result<std::vector<Selection>> select_devices(const InventoryReport& inventory,
                                              const DeviceWishes& wishes);

}  // namespace gdr::participants
