// The 40 bytes in front of a received datagram: an IP header where InfiniBand has its GRH.
#pragma once

#include <cstdint>
#include <span>

#include "rnic/address_handle.h"
#include "rnic/ip_header.h"
#include "rnic/queue_pair.h"

namespace gdr::rnic {

// What RoCEv2 reports as the service level of a received datagram: the type of its layer 3 header,
// as mlx5 codes it and UCX expects it.
constexpr std::uint8_t kOverUdp = 8, kIpv4 = 2, kIpv6 = 1;

inline std::uint8_t service_level_of(Gid gid) {
  return kOverUdp | (is_ipv4_mapped(gid) ? kIpv4 : kIpv6);
}

// IPv6's header, or IPv4's in the last 20 of the bytes (annex A17), for `bytes` of payload.
void fill_network_header(const AddressVector& address, Gid source, Gid target, std::uint64_t bytes,
                         std::span<std::uint8_t, kGrhBytes> header);

}  // namespace gdr::rnic
