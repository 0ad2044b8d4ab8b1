// Every GPU and every port of an RDMA NIC, one after the other: what gdr list shows.
//
//   const Listing listing = make_listing(*std::move(inventory), {"this machine", true, {}}, {});
//   fmt::print("{}", to_text(listing, style));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/inventory.h"
#include "topo/report.h"
#include "topo/stand_ins.h"

namespace gdr::topo {

enum class Made : std::uint8_t {
  kHardware,  // a PCI function, which may be virtual
  kKernel,    // by the kernel in software: rxe, siw
  kStandIn    // gdrkit's own
};
const char* name_of(Made made);  // "hardware", "software", "gdrkit stand-in"

struct ListedGpu {
  std::string label;  // "GPU0", as gdr topo numbers them; "-" for what is in no topology
  Made made = Made::kHardware;
  host::Gpu gpu;
};

struct ListedPort {
  std::string label;  // "NIC0"
  Made made = Made::kHardware;
  host::Nic nic;
  host::Port port;  // of number 0: the source shows no ports
};

struct Listing {
  Origin origin;
  std::string product;
  std::string gpu_driver_version;
  bool gpu_driver_open = false;
  std::vector<ListedGpu> gpus;
  std::vector<ListedPort> ports;
  std::vector<std::string> unseen;
};

// Fails as list_devices does.
Result<Listing> make_listing(host::Inventory inventory, Origin origin, const StandIns& stand_ins);

// "10.0.0.1" of "0000:0000:0000:0000:0000:ffff:0a00:0001", else as IPv6 addresses are written.
std::string address_of(const host::Gid& gid);
// "RoCE v2", "RoCE v1", "InfiniBand"; empty: not known.
std::string type_of(const host::Gid& gid, const host::Port& port);

}  // namespace gdr::topo
