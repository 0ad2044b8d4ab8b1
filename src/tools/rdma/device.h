// Device: an open RDMA NIC and what its ports say.
//
//   Result<rdma::Device> nic = rdma::Device::open(*library, "mlx5_0");
//   Result<ibv_port_attr> port = nic->port(1);
//   Result<rdma::PortAddress> address = nic->address(1);   // the GID to use, and the MAC behind it
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "rdma/library.h"

namespace gdr::rdma {

using Mac = std::array<std::uint8_t, 6>;

struct PortAddress {
  std::uint16_t lid = 0;
  std::uint8_t gid_index = 0;
  ibv_gid gid{};
  // From the GID, as ibv_resolve_eth_l2_from_gid() answers it; nothing where that is not known.
  std::optional<Mac> mac;
};

class Device {
 public:
  static Result<Device> open(const Library& library, const std::string& name);

  const Library& library() const { return *library_; }
  ibv_context* context() const { return context_.get(); }

  Result<ibv_device_attr> attributes() const;
  Result<ibv_port_attr> port(std::uint8_t number) const;

  // On Ethernet a RoCE v2 GID, an IPv4-mapped one first; on InfiniBand GID 0.
  Result<PortAddress> address(std::uint8_t port) const;

 private:
  struct Close {
    int (*function)(ibv_context*);
    void operator()(ibv_context* context) const { (void)function(context); }
  };
  Device(const Library& library, ibv_context* context)
      : library_(&library), context_(context, Close{library.close_device}) {}

  std::optional<Mac> mac_of(std::uint8_t port, std::uint8_t gid_index, const ibv_gid& gid) const;

  const Library* library_;
  std::unique_ptr<ibv_context, Close> context_;
};

// 256 to 4096.
constexpr std::uint32_t bytes_of(ibv_mtu mtu) { return 128u << static_cast<unsigned>(mtu); }

// ::ffff:a.b.c.d -> a.b.c.d in host order.
std::optional<std::uint32_t> ipv4_of(const ibv_gid& gid);

}  // namespace gdr::rdma
