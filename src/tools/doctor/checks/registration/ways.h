// Ways: what the checks of registration share: by which ways this host should be able to give GPU
// memory to a NIC, and what to do about it, as host/registration decides it for gdr fix too.
// Whether it works is for check "registration" to try.
//
//   const Ways ways = find_ways(host);
//   if (ways.dma_buf == Tri::kNo) puts(ways.why_no_dma_buf.c_str());
#pragma once

#include <string>
#include <vector>

#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/tri.h"
#include "host/registration/peer_memory_plan.h"
#include "host/release.h"

namespace gdr::doctor {

using host::parse_release;
using host::Release;

struct Ways {
  std::string kernel;  // as the kernel says it; empty: unknown
  Release kernel_release;
  bool driver_loaded = false;  // of the GPU
  Tri open_driver = Tri::kUnknown;
  std::string driver_version;
  Release driver_release;

  Tri dma_buf = Tri::kUnknown;
  std::string why_no_dma_buf;  // also why it is unknown
  bool peer_memory = false;    // a client is loaded
  std::string driver_root;     // as it was given; empty: it was looked for
  host::PeerMemoryPlan plan;
  Evidences evidence;

  // "a peer-memory client is loaded", "this kernel has no peer-memory interface"
  std::string peer_memory_text() const;
};
Ways find_ways(const Host& host);

// Enables a way if there is none: gdr fix if it can load the module, otherwise the removal of the
// obstacle.
Fix fix_of(const Ways& ways);
Action action_of(const host::Advice& advice);
// Removes an obstacle; if commands can do it, gdr fix follows.
Fix fix_by(const host::Advice& advice);

// "6.8.0-45-generic" of this host or capture; empty: unknown.
std::string kernel_of(const Host& host);
// "lib/modules/6.8.0-45-generic/modules.dep"
std::string modules_file(const Host& host, const std::string& name);

// For a kernel that accepts only signed modules.
Action sign_the_module();

// Whether /proc/kallsyms has it: in the kernel, or in a module that is loaded.
bool has_symbol(const Host& host, const std::string& symbol);

}  // namespace gdr::doctor
