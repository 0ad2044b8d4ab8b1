// What kept the proof from being made at all, with its likely causes in order and a command that
// helps to find the right one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "participants/libraries.h"
#include "proof/report.h"
#include "text/command.h"

namespace gdr::proof {

using participants::MachineFacts;

struct Obstacle {
  std::vector<std::string> seen;
  std::vector<std::string> causes;
  text::Command next;  // of this host alone: another one's is told to nobody
  GDR_FIELDS(seen, causes)
};

// Hardware was required, or is there, and a part of it is missing or cannot be used. Nothing where
// all of it can.
std::optional<Obstacle> missing_hardware(const MachineFacts& machine,
                                         const InventoryReport& inventory, bool required);

// A stand-in took the place of a part that is missing, on a machine that shows other hardware: such
// a machine has lost something, and a simulation in its place is no success. Nothing where it shows
// none.
std::optional<Obstacle> replaced_hardware(const MachineFacts& machine,
                                          const InventoryReport& inventory);

// A stand-in that cannot be used.
std::optional<Obstacle> broken_stand_in(const InventoryReport& inventory);

// The stand-in was loaded where the real library was looked for: what it proves, no hardware does.
std::optional<Obstacle> hidden_hardware(const InventoryReport& inventory,
                                        const std::string& soft_verbs,
                                        const std::string& soft_cuda);

// A step before the first transfer was refused.
Obstacle refused_step(const Error& error, const InventoryReport& inventory);

}  // namespace gdr::proof
