// The PCI tree as it is drawn: a switch is one node, its upstream port, and a port with one thing
// below it is told with that thing.
//
//   const std::vector<TreeNode> bridges = make_tree(inventory.pci, devices, false);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/pci/tree.h"
#include "topo/devices.h"

namespace gdr::topo {

struct TreeNode {
  enum class Kind : std::uint8_t {
    kHostBridge,
    kRootPort,
    kSwitch,          // by its upstream port
    kDownstreamPort,  //
    kBridge,          // to conventional PCI
    kDevice
  };
  Kind kind = Kind::kDevice;
  std::string address;  // "pci0000:00" for a host bridge
  std::string name;     // of switches and of devices that are none of the list; may be empty
  int numa_node = -1;
  std::string link;                   // to what is above, as text_of(PciLink); may be empty
  std::optional<std::size_t> device;  // in the list of devices
  std::vector<TreeNode> children;
};

// Host bridges, each with the ways to the devices below it, and to what gdr does not support; with
// `all` every function of the machine.
std::vector<TreeNode> make_tree(const host::PciTree& pci, const std::vector<Device>& devices,
                                bool all);

// "3b:00.0" of "0000:3b:00.0", as lspci writes it; the domain stays where it is another one.
std::string short_address(const std::string& address);

const char* name_of(TreeNode::Kind kind);  // "host bridge", "switch"

}  // namespace gdr::topo
