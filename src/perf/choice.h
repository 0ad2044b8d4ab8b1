// Choice: which devices a side uses, of what there is.
//
//   Result<Choice> choice = choose(options, Role::kClient);
//   Result<std::unique_ptr<Devices>> devices = Devices::open(choice->names);
#pragma once

#include "perf/devices.h"
#include "perf/run.h"

namespace gdr::perf {

enum class Role { kLoopback, kClient, kServer };

struct Choice {
  DeviceNames names, far_names;  // far: of a loopback's other side
  Available available;
  Side side, far_side;
};

Result<Choice> choose(const Options& options, Role role);
// What is known once the devices are open.
Side describe(Side side, const Devices& devices);

}  // namespace gdr::perf
