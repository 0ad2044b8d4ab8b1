#include "perf/devices.h"

#include <algorithm>

namespace gdr::perf {

Result<std::unique_ptr<Devices>> Devices::open(const DeviceNames& names) {
  // CUDA first: the software NIC looks for the driver that the process already has.
  if (!names.cuda.empty()) (void)cuda::Driver::load(names.cuda.c_str());
  Result<const rdma::Library*> library = rdma::Library::load(names.verbs);
  if (!library) return library.error();
  Result<rdma::Device> nic = rdma::Device::open(**library, names.nic);
  if (!nic) return nic.error();
  std::unique_ptr<Devices> devices(new Devices(names, *std::move(nic)));
  Result<ibv_device_attr> attributes = devices->nic_.attributes();
  if (!attributes) return attributes.error();
  devices->attributes_ = *attributes;
  Result<ibv_port_attr> port = devices->nic_.port(names.port);
  if (!port) return port.error();
  if (port->state != IBV_PORT_ACTIVE) {
    return Error{ENETDOWN, "port " + std::to_string(names.port) + " of " + names.nic +
                               " has no link; gdr doctor says why"};
  }
  devices->port_ = *port;
  if (Result<void> found = devices->find_address(); !found) return found.error();
  Result<rdma::ProtectionDomain> domain = rdma::make_protection_domain(devices->nic_);
  if (!domain) return domain.error();
  devices->domain_ = *std::move(domain);
  return devices;
}

Result<Ports> open_ports(const std::vector<DeviceNames>& names) {
  Ports ports;
  for (const DeviceNames& each : names) {
    Result<std::unique_ptr<Devices>> opened = Devices::open(each);
    if (!opened) return opened.error();
    ports.push_back(*std::move(opened));
  }
  return ports;
}

Result<void> Devices::find_address() {
  Result<rdma::PortAddress> best = nic_.address(names_.port);
  if (!best) return best.error();
  address_ = *best;
  if (!names_.gid_index || *names_.gid_index == address_.gid_index) return {};
  const auto none = [&] {
    return Error{EINVAL, "port " + std::to_string(names_.port) + " of " + names_.nic +
                             " has no GID with index " + std::to_string(*names_.gid_index) +
                             "; the best one has index " + std::to_string(best->gid_index)};
  };
  if (*names_.gid_index >= port_.gid_tbl_len) return none();
  if (int code =
          nic_.library().query_gid(nic_.context(), names_.port, *names_.gid_index, &address_.gid)) {
    return rdma::verbs_error("ibv_query_gid", code > 0 ? code : EIO);
  }
  const bool is_empty = std::all_of(std::begin(address_.gid.raw), std::end(address_.gid.raw),
                                    [](std::uint8_t byte) { return byte == 0; });
  if (is_empty) return none();
  address_.gid_index = *names_.gid_index;
  return {};
}

rdma::Endpoint Devices::endpoint() const {
  rdma::Endpoint end;
  end.port = names_.port;
  end.lid = address_.lid;
  end.gid_index = address_.gid_index;
  end.gid = address_.gid;
  end.global = port_.link_layer == IBV_LINK_LAYER_ETHERNET;
  return end;
}

Result<participants::Gpu> Devices::gpu(int ordinal) {
  const auto known = gpus_.find(ordinal);
  if (known != gpus_.end()) {
    if (Result<void> done = participants::make_current(known->second); !done) return done.error();
    return known->second;
  }
  if (names_.cuda.empty()) return Error{ENODEV, "no GPU: no CUDA driver on this host"};
  Result<participants::Gpu> gpu = participants::open_gpu(names_.cuda, ordinal);
  if (gpu) gpus_.emplace(ordinal, *gpu);
  return gpu;
}

}  // namespace gdr::perf
