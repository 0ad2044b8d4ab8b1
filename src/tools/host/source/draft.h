// What a reader of a text or XML file has gathered of a machine, and what all of them make of it in
// the end: names, GPUs, NICs, links.
//
//   Draft draft;
//   ... draft.machine.pci.add(function); add_name(draft.nics["0000:1a:00.0"], "mlx5_0");
//   return finish(std::move(draft));
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/classify.h"
#include "host/conclusions.h"
#include "host/inventory.h"
#include "host/pci/link.h"

namespace gdr::host {

// No machine has as many bridges above each other.
inline constexpr std::size_t kDeepestPath = 32;

// What a source shows at one PCI function: RDMA devices by their names, and their ports.
struct DraftNic {
  std::vector<std::string> names;
  std::vector<Port> ports;
};

struct Draft {
  Inventory machine;
  Shown shown;
  // By PCI address, as far as the source has them.
  std::map<std::string, PortSpeed> speeds;
  std::map<std::string, DraftNic> nics;
  std::map<std::string, std::string> models;  // of GPUs
};

// Each name once.
void add_name(DraftNic& nic, std::string_view name);

// GPUs are in order of their addresses, NICs of their RDMA names, as nvidia-smi numbers them. NICs
// of which the source has no RDMA name are named by, and in order of, their addresses.
Inventory finish(Draft draft);

// 0: no number of that form; `base` 16 takes "0x10de" and "10de".
std::uint32_t to_number(std::string_view text, int base);

// "0-31,64" of "00000001,00000000,ffffffff"; empty: no such mask.
std::string processors_of_mask(std::string_view mask);

// At most 64 MiB, from a file or a pipe; the error's line names it.
Result<std::string> read_source_file(const std::string& path);

}  // namespace gdr::host
