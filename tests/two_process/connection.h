// The usual start of a test: a target process with memory and one queue pair, connected to one of
// this process. The target then goes on with a function of its own.
#pragma once

#include "side.h"

namespace gdr::test {

struct TargetSide {
  Side& side;
  Memory& memory;
  ibv_qp* qp;
  Wire& wire;
};

struct TargetOptions {
  ibv_qp_type type = IBV_QPT_RC;
  std::size_t bytes = 1 << 20;
  unsigned access = kAllAccess;
  Patience patience{};
  int completions = 1024;
  bool with_channel = false;
};

// Child side: opens, connects over the wire, calls `body`.
void be_target(Wire& wire, const TargetOptions& options,
               const std::function<void(TargetSide)>& body);

// Test side of the same, once the child runs: connects `qp` and returns the target's memory.
Remote connect_to_target(Side& side, ibv_qp* qp, Wire& wire, const Patience& patience = {},
                         Endpoint* target = nullptr);

}  // namespace gdr::test
