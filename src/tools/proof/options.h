// What `gdr prove` was asked for.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "participants/libraries.h"
#include "participants/select.h"
#include "proof/messages.h"
#include "proof/modes/mode.h"
#include "proof/plan.h"
#include "proof/run_facts.h"

namespace gdr::proof {

using participants::PortChoice;
using participants::Selection;

struct Options : participants::DeviceWishes, participants::LibraryWishes {
  std::vector<std::uint64_t> sizes{default_sizes().begin(), default_sizes().end()};
  std::vector<const Mode*> modes{all_modes().begin(), all_modes().end()};
  // Empty: the NICs alone, between host buffers, without any GPU.
  std::vector<MemoryKind> device_memory{MemoryKind::kDevice, MemoryKind::kDeviceVmm};
  std::optional<Registration> registration;
  bool measure = true;
  Nanoseconds step_timeout = kStepTimeout;
  // Once it is true no further transfer begins, and the verdict is about what was done.
  const std::atomic<bool>* interrupted = nullptr;
  bool is_interrupted() const { return interrupted != nullptr && interrupted->load(); }
  // The server that is B, with devices of its own host. Then `gpu` and `nic` are those of A.
  ServerOfProof server;
  RunFacts facts;  // host, date and version; the proof adds what the machine shows

  // Where things are; tests point them elsewhere.
  std::string root = "/";
  std::string program = "/proc/self/exe";  // started as a worker, with these arguments
  std::vector<std::string> worker_arguments{"prove-worker"};
};

}  // namespace gdr::proof
