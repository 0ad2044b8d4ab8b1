// Machine: what one host brings to a proof: its libraries, its devices as they see them, and what
// the kernel says of these.
//
//   Result<Machine> machine = take_stock(options);
//   if (std::optional<Obstacle> obstacle = obstacle_on(*machine, options)) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/pci/tree.h"
#include "host/registration/loaded_module.h"
#include "participants/inventory.h"
#include "participants/libraries.h"
#include "proof/obstacle.h"
#include "proof/options.h"

namespace gdr::proof {

struct Machine {
  participants::MachineFacts shows;
  participants::Libraries libraries;
  participants::Survey survey;  // what the libraries said
  InventoryReport inventory;
  RunFacts facts;                                       // the options', and what was seen
  std::vector<host::LoadedModule> peer_memory_modules;  // that the kernel has loaded
  std::optional<host::PciTree> tree;                    // where its grades can be relied on

  // The grade of the way from the GPU at `address` to the NIC `nic`; empty: not known.
  std::string grade(const std::string& address, const std::string& nic) const;
};

// What the workers of this process inherit. Before there is a second thread.
void prepare_environment(const Options& options);

// Asks the libraries in a worker, as everything that calls a driver.
Result<Machine> take_stock(const Options& options);

// Why nothing can be proved with what was found: hardware that is there and cannot be used ends the
// proof, for a stand-in must not hide it.
std::optional<Obstacle> obstacle_on(const Machine& machine, const Options& options);

}  // namespace gdr::proof
