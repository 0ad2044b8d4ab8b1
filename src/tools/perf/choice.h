// Choice: which devices a side uses, of what there is.
//
//   Result<Choice> choice = choose(options, Role::kClient);
//   Result<Ports> ports = open_ports(choice->names);
#pragma once

#include "perf/devices.h"
#include "perf/limits/facts.h"
#include "perf/run.h"

namespace gdr::perf {

enum class Role { kLoopback, kClient, kServer };

struct Choice {
  std::vector<DeviceNames> names, far_names;  // a port each; far: of a loopback's other side
  Available available;
  participants::InventoryReport inventory;
  std::vector<int> gpus;  // ordinals that may take part
};

Result<Choice> choose(const Options& options, Role role);

// What the two sides tell each other and the reader, once the devices are open.
struct Description {
  Side side;
  Facts facts;
};
Description describe(const Choice& choice, const Ports& ports, const Options& options);

}  // namespace gdr::perf
