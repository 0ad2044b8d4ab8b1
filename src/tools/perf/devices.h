// Devices: what one side of a run has open: one port of a NIC, and the GPUs that its memory is on.
//
//   Result<std::unique_ptr<Devices>> devices = Devices::open({.verbs = path, .nic = "mlx5_0"});
//   Result<participants::Gpu> gpu = (*devices)->gpu(0);
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "participants/gpu.h"
#include "rdma/device.h"
#include "rdma/resources.h"
#include "rdma/states.h"

namespace gdr::perf {

struct DeviceNames {
  std::string verbs, cuda;  // libraries; cuda may be empty: no GPU then
  std::string nic;
  std::uint8_t port = 1;
  std::optional<std::uint8_t> gid_index;  // nothing: the best one
};

class Devices {
 public:
  static Result<std::unique_ptr<Devices>> open(const DeviceNames& names);

  const rdma::Device& nic() const { return nic_; }
  ibv_pd* domain() const { return domain_.get(); }
  const ibv_port_attr& port() const { return port_; }
  const ibv_device_attr& attributes() const { return attributes_; }
  const DeviceNames& names() const { return names_; }
  const rdma::PortAddress& address() const { return address_; }
  // Without a queue pair's number.
  rdma::Endpoint endpoint() const;
  bool has_atomics() const { return attributes_.atomic_cap != IBV_ATOMIC_NONE; }

  // Opened at first use; its context is current in the calling thread then.
  Result<participants::Gpu> gpu(int ordinal);

 private:
  Devices(DeviceNames names, rdma::Device nic) : names_(std::move(names)), nic_(std::move(nic)) {}
  Result<void> find_address();

  DeviceNames names_;
  rdma::Device nic_;
  rdma::ProtectionDomain domain_;
  ibv_port_attr port_{};
  ibv_device_attr attributes_{};
  rdma::PortAddress address_;
  std::map<int, participants::Gpu> gpus_;
};

// All of a side, in the order in which they were named: each is used beside the others, with queue
// pairs, a protection domain and regions of its own.
using Ports = std::vector<std::unique_ptr<Devices>>;
Result<Ports> open_ports(const std::vector<DeviceNames>& names);

}  // namespace gdr::perf
