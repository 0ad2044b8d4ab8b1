// What registration/ways.h judges by, read from a machine.
//
//   const RegistrationFacts facts = read_registration_facts(files, inventory);
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/files.h"
#include "host/inventory.h"
#include "host/registration/ways.h"

namespace gdr::host {

inline constexpr const char* kPeerMemorySymbol = "ib_register_peer_memory_client";
inline constexpr const char* kImportSymbol = "ib_umem_dmabuf_get";

// Whether /proc/kallsyms has a symbol: in the kernel, or in a module that is loaded.
bool has_kernel_symbol(const Files& files, const std::string& symbol);

// Looks in /proc/modules and /sys/module, because a container may hide either. Built-in modules
// count if /sys/module shows them. `module`: "nvidia_peermem" or "nvidia-peermem".
bool is_module_loaded(const Files& files, const std::string& module);

// "lib/modules/6.8.0-45-generic/modules.dep" below `root`, which is empty or "run/nvidia/driver".
// Empty: the kernel's release is not known, or is none.
std::string modules_file(const Files& files, const std::string& name, const std::string& root = {});

// A GPU or accelerator of AMD's, whose driver and peer memory are none of NVIDIA's.
bool has_amd_gpu(const Inventory& inventory);

struct ReadFacts {
  RegistrationFacts facts;
  bool driver_loaded = false;  // NVIDIA's
  // Whether the RDMA core that runs was seen to have the interface, or not to; what was not seen
  // follows from the kernel's release.
  Tri interface_seen = Tri::kUnknown;
  bool rdma_loaded = false;  // ib_core
  struct Source {
    std::string file, value;
  };
  std::vector<Source> sources;
};

// `has_symbol`: for who keeps what /proc/kallsyms says, which takes long to read.
using HasSymbol = std::function<bool(const std::string& symbol)>;
ReadFacts read_registration_facts(const Files& files, const Inventory& inventory,
                                  const HasSymbol& has_symbol = {});

}  // namespace gdr::host
