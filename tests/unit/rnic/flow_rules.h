// Flow rules and frames for the tests of both.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "rnic/flow.h"

namespace gdr::rnic {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kMac[6] = {0x02, 0x67, 0x64, 0x72, 0, 0};
constexpr std::uint8_t kOtherMac[6] = {0x02, 0x67, 0x64, 0x72, 0, 1};

// A flow attribute followed by its specs, in an allocation of just their size.
class Rule {
 public:
  explicit Rule(ibv_flow_attr_type type = IBV_FLOW_ATTR_NORMAL) {
    attributes_.type = type;
    attributes_.port = 1;
    attributes_.size = sizeof attributes_;
  }
  template <typename Spec>
  Rule& add(ibv_flow_spec_type type, Spec spec) {
    spec.type = type;
    spec.size = sizeof spec;
    return add_bytes(spec);
  }
  template <typename Spec>
  Rule& add_bytes(const Spec& spec) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&spec);
    specs_.insert(specs_.end(), bytes, bytes + sizeof spec);
    attributes_.size = static_cast<std::uint16_t>(attributes_.size + sizeof spec);
    ++attributes_.num_of_specs;
    return *this;
  }
  ibv_flow_attr& attributes() { return attributes_; }

  Result<FlowMatch> match() const {
    const std::size_t size = sizeof attributes_ + specs_.size();
    // Words, so that the attribute itself is aligned; the sizes are multiples of four.
    std::vector<std::uint32_t> all(size / 4);
    std::memcpy(all.data(), &attributes_, sizeof attributes_);
    std::copy(specs_.begin(), specs_.end(),
              reinterpret_cast<std::uint8_t*>(all.data()) + sizeof attributes_);
    return flow_match(*reinterpret_cast<const ibv_flow_attr*>(all.data()));
  }
  int refusal() const {
    const auto result = match();
    return result ? 0 : result.error().code;
  }

 private:
  ibv_flow_attr attributes_{};
  Bytes specs_;
};

inline std::uint16_t big16(std::uint16_t value) { return __builtin_bswap16(value); }
inline std::uint32_t big32(std::uint32_t value) { return __builtin_bswap32(value); }

inline ibv_flow_spec_eth to_mac(const std::uint8_t* mac) {
  ibv_flow_spec_eth spec{};
  std::memcpy(spec.val.dst_mac, mac, 6);
  std::memset(spec.mask.dst_mac, 0xff, 6);
  return spec;
}
inline ibv_flow_spec_tcp_udp to_port(std::uint16_t port) {
  ibv_flow_spec_tcp_udp spec{};
  spec.val.dst_port = big16(port);
  spec.mask.dst_port = 0xffff;
  return spec;
}
inline ibv_flow_spec_ipv4 to_address(std::uint32_t address, std::uint32_t mask = 0xffffffff) {
  ibv_flow_spec_ipv4 spec{};
  spec.val.dst_ip = big32(address);
  spec.mask.dst_ip = big32(mask);
  return spec;
}

// To kMac from kOtherMac, UDP from 10.0.0.1:1000 to 10.0.0.2:4791.
inline Bytes udp_frame() {
  Bytes frame(14 + 20 + 8 + 4);
  std::memcpy(&frame[0], kMac, 6);
  std::memcpy(&frame[6], kOtherMac, 6);
  store_be16(&frame[12], 0x0800);
  frame[14] = 0x45;
  store_be16(&frame[16], 32);
  frame[23] = 17;
  store_be32(&frame[26], 0x0a000001);
  store_be32(&frame[30], 0x0a000002);
  store_be16(&frame[34], 1000);
  store_be16(&frame[36], 4791);
  store_be16(&frame[38], 12);
  return frame;
}

inline bool takes(const Rule& rule, const Bytes& frame) {
  const auto match = rule.match();
  EXPECT_TRUE(match) << match.error().message;
  return match && matches(*match, kMac, frame);
}

inline Rule full_rule() {
  return Rule()
      .add(IBV_FLOW_SPEC_ETH, to_mac(kMac))
      .add(IBV_FLOW_SPEC_IPV4, to_address(0x0a000002))
      .add(IBV_FLOW_SPEC_UDP, to_port(4791));
}

}  // namespace gdr::rnic
