// AddressHandle: where a UD datagram goes, resolved from ibv_ah_attr when the handle is created.
// `base` is first, so that the ibv_ah of a work request is the handle.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>

namespace gdr::rnic {

struct AddressVector {
  // Without a GRH there is no address: the queue pair number alone finds its target, which only
  // works within one host (see docs/supported.md).
  bool has_gid = false;
  std::array<std::uint8_t, 16> destination_gid{}, source_gid{};
  std::uint32_t source_address = 0;  // which of its device's addresses source_gid is
  std::uint8_t hop_limit = 64;
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;
};

struct AddressHandle {
  ibv_ah base;
  AddressVector vector;
};

inline const AddressVector& vector_of(const ibv_ah* handle) {
  return reinterpret_cast<const AddressHandle*>(handle)->vector;
}

}  // namespace gdr::rnic
