// Path: which two NIC ports and which GPUs something was moved between, and in which direction.
#pragma once

#include <string>

#include "participants/select.h"
#include "proof/plan.h"

namespace gdr::proof {

struct Path {
  std::string from_nic, to_nic;    // A, which starts the transfers, and B
  std::string from_gpu, gpu;       // "GPU 0": of A and of B; empty: no GPU takes part
  std::string from_host, to_host;  // of A and of B; empty: both on this host
  Direction direction;             // of the data
  bool fetched = false;            // by a read: the data goes from B to A

  bool has_two_hosts() const { return !to_host.empty(); }
  bool has_two_gpus() const { return !from_gpu.empty() && (has_two_hosts() || from_gpu != gpu); }
  // Directions say which GPU's memory it is.
  bool names_gpus() const { return has_two_gpus() && !has_two_hosts(); }
  // Whose memory the data comes from and goes to; empty: host memory.
  std::string source_gpu() const;
  std::string target_gpu() const;
};

// "mlx5_0"; "mlx5_0 of node2", where `host` is not empty.
std::string of_host(const std::string& what, const std::string& host);

// The devices of `path` are those of `selection`.
void name_devices(const participants::Selection& selection, Path& path);

// "soft0 → soft1, GPU 0", "soft0 → soft1, GPU 0 → GPU 1"; between hosts "mlx5_0 and GPU 0 of node1
// → mlx5_0 and GPU 0 of node2"
std::string path_text(const Path& path);
// "soft0 → soft1", "mlx5_0 of node1 → mlx5_0 of node2"
std::string ports_text(const Path& path);
// "GPU → host"; where one host has two GPUs, which of them: "GPU 0 → GPU 1 VMM". Between hosts A's
// memory is on the left, and a read goes "GPU ← host".
std::string direction_text(const Path& path);

}  // namespace gdr::proof
