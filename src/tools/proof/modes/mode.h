// Mode: one way to move data, and how one transfer of it goes. A file a mode; all of them in
// modes.cc.
#pragma once

#include <span>
#include <string_view>

#include "proof/diagnosis.h"
#include "proof/lane.h"

namespace gdr::proof {

struct Mode {
  std::string_view name;   // on the command line: "write-imm"
  std::string_view title;  // in the report: "RC write with imm"
  QueueKind queue;
  // The provider's library may read headers with the CPU, so frames start in host memory.
  bool host_source_only = false;
  bool needs_atomics = false;
  bool fetches = false;  // the data goes to the end that starts the transfer
  Limits (*limits)(Lane& lane) = nullptr;
  // Cases of its own; null: every size.
  std::vector<Case> (*cases)(const Direction& direction) = nullptr;
  // After connect(): a rule, or the reason why this mode cannot be used here.
  Result<void> (*prepare)(Lane& lane) = nullptr;
  Observation (*run)(Lane& lane, const Case& c) = nullptr;
};

// In the order in which they are proved.
std::span<const Mode* const> all_modes();
const Mode* find_mode(std::string_view name);
// "raw, ud, send, …"
std::string mode_names();

extern const Mode kRaw, kUd, kRcSend, kRcWrite, kRcWriteImmediate, kRcRead, kRcAtomic;

}  // namespace gdr::proof
