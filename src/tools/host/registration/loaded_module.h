// Which peer-memory modules are loaded, in their own words: what a registration of GPU memory that
// the kernel accepted went through.
//
//   for (const LoadedModule& module : loaded_peer_memory(files)) say(module.text());
#pragma once

#include <string>
#include <vector>

#include "host/files.h"

namespace gdr::host {

struct LoadedModule {
  std::string name;     // "nvidia_peermem"
  std::string version;  // "gdrkit-0.1.0", of the driver's own "550.163.01"; empty: it says none

  // "nvidia_peermem gdrkit-0.1.0"
  std::string text() const { return version.empty() ? name : name + " " + version; }
};

// More than one is loaded on few hosts; which of them took a registration cannot be seen there.
std::vector<LoadedModule> loaded_peer_memory(const Files& files);

}  // namespace gdr::host
