// An Ethernet/IPv4/UDP frame with right checksums.
//
//   Bytes frame = build_frame({.destination_mac = b, .source_mac = a, ...}, payload);
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "process/codec.h"

namespace gdr::proof {

struct FrameAddress {
  std::array<std::uint8_t, 6> destination_mac{};
  std::array<std::uint8_t, 6> source_mac{};
  std::uint32_t source_ipv4 = 0;  // host order
  std::uint32_t destination_ipv4 = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
};

constexpr std::size_t kFrameHeaders = 14 + 20 + 8;

process::Bytes build_frame(const FrameAddress& address, std::span<const std::byte> payload);

}  // namespace gdr::proof
