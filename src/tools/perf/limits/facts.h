// Facts: what is known of one side of a run that bears on how fast it can be. Sent by the server to
// the client, which judges both sides.
//
//   Facts facts = gather_facts(inventory, {{{{"mlx5_0", 1}, 3, gid, 4096}}, {0}});
//   facts.memory_copy = measure_memory_copy(0, kMemoryCopyTime);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "participants/inventory.h"
#include "participants/select.h"
#include "process/codec.h"

namespace gdr::perf {

// Whether it is on; kUnknown: the configuration space could not be read (it takes root).
enum class Switch : std::uint8_t { kUnknown, kOff, kOn };

struct PcieLink {
  std::string above, below;          // addresses of its ends
  double speed = 0, most_speed = 0;  // GT/s; 0: not known
  std::uint32_t width = 0, most_width = 0;
  GDR_FIELDS(above, below, speed, most_speed, width, most_width)
};
struct Pcie {
  std::vector<std::string> path;  // host bridge, bridges, the function; none: no PCI function
  std::vector<PcieLink> links;    // the function's own first
  std::int32_t numa_node = -1;
  std::uint32_t max_payload = 0, max_read_request = 0;  // bytes; 0: not known
  Switch relaxed_ordering = Switch::kUnknown;
  GDR_FIELDS(path, links, numa_node, max_payload, max_read_request, relaxed_ordering)
};
struct NicFacts {
  std::string name, netdev;
  std::uint32_t port = 1;
  bool software = false;  // a stand-in, or a software device of the kernel (rxe, siw)
  bool ethernet = true;
  double link_bits_per_second = 0;  // 0: not known, or software, which has none of its own
  std::uint32_t path_mtu = 0;       // bytes; 0: not known
  Pcie pcie;
  GDR_FIELDS(name, netdev, port, software, ethernet, link_bits_per_second, path_mtu, pcie)
};
struct GpuFacts {
  std::int32_t ordinal = 0;
  bool software = false;
  Pcie pcie;
  GDR_FIELDS(ordinal, software, pcie)
};
struct Facts {
  std::string host;     // its name
  std::string machine;  // unlike any other's until it is started again: tells a loopback
  bool virtual_machine = false;
  bool amd = false;
  std::vector<NicFacts> nics;  // a port each: in Side::ports' order
  std::vector<GpuFacts> gpus;
  std::int32_t numa_node = -1;  // where the thread that asked ran; -1: the host has one, or unknown
  std::uint32_t cores = 0;      // that the process may run on; 0: not known
  double memory_copy = 0;       // bytes a second between buffers larger than the caches; 0: unknown
  double message_copy = 0;      // of messages of the row's size, in the caches
  GDR_FIELDS(host, machine, virtual_machine, amd, nics, gpus, numa_node, cores, memory_copy,
             message_copy)
};

// What of this side's devices takes part.
struct ChosenPort {
  participants::PortChoice port;
  std::uint32_t gid_index = 0;
  std::string gid;
  std::uint32_t path_mtu = 0;  // bytes
};
struct Chosen {
  std::vector<ChosenPort> ports;
  std::vector<int> gpus;  // ordinals
};

// Asked by a thread of the kind that measures: its processor tells the NUMA node. Everything but
// the copies of memory.
Facts gather_facts(const participants::InventoryReport& inventory, const Chosen& chosen,
                   const std::string& root = "/");

std::string netdev_of(const participants::NicEntry& nic, std::uint8_t port);
// No PCI function carries it.
bool is_software(const participants::InventoryReport& inventory, const participants::NicEntry& nic);

}  // namespace gdr::perf
