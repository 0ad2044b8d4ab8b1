#include "cli/machine_origin.h"

#include <fmt/format.h>

#include "host/files.h"
#include "text/format.h"
#include "topo/live.h"

namespace gdr::cli {

topo::Origin origin_of(const MachineOptions& options, const host::Inventory& inventory) {
  topo::Origin origin;
  const std::string functions = text::plural(inventory.pci.functions().size(), "PCI function");
  if (options.root == "/" && !is_live(options)) {
    for (const std::string& file : described_by(options)) {
      origin.text += (origin.text.empty() ? "captured: " : ", ") + file;
      origin.looked_at.push_back(fmt::format("{}: {}", file, functions));
    }
    return origin;
  }
  origin.live = is_live(options);
  origin.text = origin.live ? "this machine" : "captured: " + options.root;
  const std::string root = origin.live ? "" : options.root;
  origin.looked_at = {fmt::format("{}/sys/bus/pci/devices: {}", root, functions),
                      fmt::format("{}/sys/class/infiniband: {}", root,
                                  text::plural(inventory.nics.size(), "RDMA device"))};
  return origin;
}

void look_closer(const MachineOptions& options, host::Inventory& inventory) {
  if (is_live(options)) topo::ask_driver(inventory);
  // A description has no files: nothing lies below a file.
  if (options.root != "/" || is_live(options)) {
    host::read_product_data(host::Files(options.root), inventory);
  }
}

}  // namespace gdr::cli
