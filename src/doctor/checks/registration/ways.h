// Ways: what the checks of registration share: by which ways this host should be able to give GPU
// memory to a NIC, as its files say it. Whether it does is for check "registration" to try.
//
//   const Ways ways = find_ways(host);
//   if (ways.dma_buf == Tri::kNo) puts(ways.why_no_dma_buf.c_str());
#pragma once

#include <string>
#include <vector>

#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/tri.h"

namespace gdr::doctor {

// "6.8.0-45-generic" is {6, 8}; {0, 0}: unknown.
struct Release {
  unsigned major = 0, minor = 0;
  bool known() const { return major > 0; }
  bool operator<(const Release& other) const {
    return major != other.major ? major < other.major : minor < other.minor;
  }
};
Release parse_release(const std::string& text);

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
  // The kernel lets such a client register: ib_register_peer_memory_client.
  Tri peer_interface = Tri::kUnknown;
  Evidences evidence;
};
Ways find_ways(const Host& host);

// "6.8.0-45-generic" of this host or capture; empty: unknown.
std::string kernel_of(const Host& host);
// "lib/modules/6.8.0-45-generic/modules.dep"
std::string modules_file(const Host& host, const std::string& name);

// Where the kernel takes no module without a signature.
Action sign_the_module();

// Whether /proc/kallsyms has it: in the kernel, or in a module that is loaded.
bool has_symbol(const Host& host, const std::string& symbol);

}  // namespace gdr::doctor
