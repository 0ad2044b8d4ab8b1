#include "topo/stand_ins.h"

#include <fmt/format.h>

#include "participants/libraries.h"
#include "participants/survey.h"
#include "rdma/device.h"

namespace gdr::topo {
namespace {

constexpr unsigned kLargestGidTable = 256;

// "fe80:0000:0000:0000:0000:00ff:fe00:0001"
std::string gid_text(const ibv_gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < sizeof gid.raw; i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid.raw[i], gid.raw[i + 1]);
  }
  return text;
}

const char* type_name(std::uint32_t type) {
  return type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1";
}

std::vector<host::Gid> gids_of(const rdma::Device& device, std::uint8_t port) {
  std::vector<host::Gid> gids;
  const Result<ibv_port_attr> attributes = device.port(port);
  const int size = attributes ? attributes->gid_tbl_len : 0;
  for (unsigned i = 0; i < kLargestGidTable && static_cast<int>(i) < size; ++i) {
    ibv_gid_entry entry{};
    if (device.library().query_gid_ex(device.context(), port, i, &entry, 0, sizeof entry)) continue;
    gids.push_back({i, gid_text(entry.gid), type_name(entry.gid_type), {}});
  }
  return gids;
}

host::Port port_of(const participants::NicPort& seen) {
  host::Port port;
  port.number = seen.number;
  port.state = seen.active ? "4: ACTIVE" : "1: DOWN";
  port.link_layer = seen.ethernet ? "Ethernet" : "InfiniBand";
  if (seen.speed > 0) port.rate = fmt::format("{} Gb/sec", seen.speed / 1000.0);
  port.mac = seen.mac;
  return port;
}

void add_nic(const rdma::Library& library, const participants::NicSurvey& seen, StandIns& found) {
  if (!seen.problem.empty()) {
    found.problems.push_back(fmt::format("software NIC {}: {}.", seen.name, seen.problem));
  }
  host::Nic nic;
  nic.name = seen.name;
  nic.driver = "gdrkit";
  const Result<rdma::Device> device = rdma::Device::open(library, seen.name);
  if (device) {
    if (const auto attributes = device->attributes()) nic.firmware = attributes->fw_ver;
  }
  for (const participants::NicPort& each : seen.ports) {
    nic.ports.push_back(port_of(each));
    if (device) nic.ports.back().gids = gids_of(*device, each.number);
  }
  found.nics.push_back(std::move(nic));
}

}  // namespace

StandInLibraries stand_in_libraries(bool soft) {
  participants::LibraryWishes wishes;
  wishes.soft = soft;
  const participants::Libraries chosen =
      participants::choose_libraries(participants::look_at_machine("/"), wishes, true);
  StandInLibraries libraries;
  if (chosen.soft_nic) libraries.verbs = participants::soft_verbs_path();
  if (chosen.soft_gpu) libraries.cuda = participants::soft_cuda_path();
  return libraries;
}

StandIns find_stand_ins(const StandInLibraries& libraries) {
  StandIns found;
  if (libraries.verbs.empty() && libraries.cuda.empty()) return found;
  const participants::Survey seen = participants::survey(libraries.verbs, libraries.cuda);
  if (!libraries.cuda.empty() && !seen.cuda_problem.empty()) {
    found.problems.push_back("software GPU: " + seen.cuda_problem + ".");
  }
  for (const participants::GpuSurvey& each : seen.gpus) {
    host::Gpu gpu;
    gpu.model = each.name;
    gpu.pci_address = each.pci_address;
    gpu.driver = "gdrkit";
    found.gpus.push_back(std::move(gpu));
  }
  if (libraries.verbs.empty()) return found;
  if (!seen.verbs_problem.empty()) {
    found.problems.push_back("software NIC: " + seen.verbs_problem + ".");
  }
  const Result<const rdma::Library*> library = rdma::Library::load(libraries.verbs);
  for (const participants::NicSurvey& nic : seen.nics) {
    if (library) add_nic(**library, nic, found);
  }
  return found;
}

}  // namespace gdr::topo
