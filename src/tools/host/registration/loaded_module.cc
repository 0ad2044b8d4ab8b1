#include "host/registration/loaded_module.h"

#include "host/registration/facts.h"

namespace gdr::host {

std::vector<LoadedModule> loaded_peer_memory(const Files& files) {
  std::vector<LoadedModule> loaded;
  for (const char* name : {"nvidia_peermem", "nv_peer_mem", "efa_nv_peermem"}) {
    if (!is_module_loaded(files, name)) continue;
    loaded.push_back({name, files.line("sys/module/" + std::string(name) + "/version")});
  }
  return loaded;
}

}  // namespace gdr::host
