// What `gdr prove` was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proof/messages.h"
#include "proof/modes/mode.h"
#include "proof/plan.h"

namespace gdr::proof {

struct Options {
  std::optional<std::string> gpu;       // ordinal, PCI address or UUID
  std::optional<std::string> from_gpu;  // of the process that starts the transfers
  std::optional<std::string> nic;       // A, which starts the transfers: NAME or NAME:PORT
  std::optional<std::string> peer_nic;  // B, at whose side the checked GPU memory is
  std::vector<std::uint64_t> sizes{default_sizes().begin(), default_sizes().end()};
  std::vector<const Mode*> modes{all_modes().begin(), all_modes().end()};
  // Empty: the NICs alone, between host buffers, without any GPU.
  std::vector<MemoryKind> device_memory{MemoryKind::kDevice, MemoryKind::kDeviceVmm};
  std::optional<Registration> registration;
  bool soft = false;
  bool require_hardware = false;
  bool all = false;
  bool measure = true;
  Nanoseconds step_timeout = kStepTimeout;

  // Where things are; tests point them elsewhere.
  std::string root = "/";
  std::string program = "/proc/self/exe";  // started as a worker, with these arguments
  std::vector<std::string> worker_arguments{"prove-worker"};
  std::string soft_verbs, soft_cuda;  // paths of the stand-ins
};

}  // namespace gdr::proof
