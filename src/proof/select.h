// Choosing devices: which GPUs, and which two NIC ports, of what the libraries found. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "proof/options.h"
#include "proof/report.h"

namespace gdr::proof {

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

  bool has_two_gpus() const { return near_gpu != far_gpu; }
  void name(Path& path) const {
    path.from_nic = near.text();
    path.to_nic = far.text();
    path.from_gpu = near_gpu_text;
    path.gpu = far_gpu_text;
  }
};

// The pairs to prove: one, or with --all every GPU with every NIC port as its neighbour, then each
// two GPUs through the ports nearest to them. EINVAL (wrong use) names the unknown device and what
// there is; ENODEV: there is nothing usable.
Result<std::vector<Selection>> select_devices(const InventoryReport& inventory,
                                              const Options& options);

}  // namespace gdr::proof
