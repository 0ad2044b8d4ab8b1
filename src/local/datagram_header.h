// The 40 bytes in front of a received datagram: an IP header where InfiniBand has its GRH.
#pragma once

#include <cstdint>
#include <span>

#include "rnic/address_handle.h"
#include "rnic/queue_pair.h"

namespace gdr::local {

// What RoCEv2 reports as the service level of a received datagram: the type of its layer 3 header,
// as mlx5 codes it and UCX expects it.
constexpr std::uint32_t kOverUdp = 8, kIpv4 = 2, kIpv6 = 1;

// IPv4 in the last 20 of the bytes (annex A17), for `bytes` of payload.
void fill_ipv4_header(const rnic::AddressVector& address, const std::uint8_t (&source)[16],
                      const std::uint8_t (&target)[16], std::uint64_t bytes,
                      std::span<std::uint8_t, rnic::kGrhBytes> header);

}  // namespace gdr::local
