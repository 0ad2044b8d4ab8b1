// FarHost: what another host brings to a proof, as a message: the devices that its libraries know,
// what its kernel says of them, which of them it has chosen, and what stands in the way.
//
//   FarHost told = describe(machine, options, selection);   // there
//   InventoryReport inventory = inventory_of(told);          // here
#pragma once

#include <string>
#include <vector>

#include "participants/survey.h"
#include "proof/machine.h"

namespace gdr::proof {

struct FarHost {
  struct Port {
    std::uint32_t number = 0;
    std::string netdev, mac;
    GDR_FIELDS(number, netdev, mac)
  };
  // sysfs's view of a NIC or of a GPU, by the name that the library has for it.
  struct Hardware {
    std::string name;
    std::string pci_address, firmware;
    std::int32_t numa_node = -1;
    std::vector<Port> ports;
    GDR_FIELDS(name, pci_address, firmware, numa_node, ports)
  };
  struct Module {
    std::string name, version;
    GDR_FIELDS(name, version)
  };

  RunFacts facts;
  bool soft_nic = false, soft_gpu = false, host_memory_only = false;
  bool soft_requested = false;
  participants::Survey survey;
  std::vector<Hardware> nics, gpus;  // a GPU's name: its PCI address
  std::vector<std::string> peer_memory;
  std::vector<Module> modules;
  std::uint64_t locked_memory_limit = 0;  // 0: none, or not known
  // What was chosen.
  std::string nic, gpu;  // "mlx5_0", "GPU 0"
  std::uint8_t port = 1;
  bool ethernet = true;
  std::int32_t gpu_ordinal = 0;
  std::string grade;
  // Without `seen`: there is none.
  Obstacle obstacle, replaced;
  GDR_FIELDS(facts, soft_nic, soft_gpu, host_memory_only, soft_requested, survey, nics, gpus,
             peer_memory, modules, locked_memory_limit, nic, gpu, port, ethernet, gpu_ordinal,
             grade, obstacle, replaced)
};

// The port and the GPU that a host brings: those of the options, or the first GPU and the port
// nearest to it. They are the far ones of the selection.
Result<Selection> choose_own(const InventoryReport& inventory, const Options& options);

FarHost describe(const Machine& machine, const Options& options, const Result<Selection>& chosen);

InventoryReport inventory_of(const FarHost& host);

// What a report calls the other host: never what it calls this one, also where the server runs
// here.
std::string name_of(const FarHost& there, const std::string& this_host);

// A on this host, B there. `here`: this host's own choice.
Selection join(const Selection& here, const std::string& this_host, const FarHost& there);

}  // namespace gdr::proof
