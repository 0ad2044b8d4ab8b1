// raw(): the number in a member of an enumeration that a C program filled in: it may be none of the
// enumerators, which C++ may not read as one.
//
//   if (raw(attributes->qp_type) != IBV_QPT_RC) return EINVAL;
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gdr {

template <typename Enum>
std::uint32_t raw(const Enum& member) {
  static_assert(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(std::uint32_t));
  std::uint32_t number;
  std::memcpy(&number, &member, sizeof number);
  return number;
}

}  // namespace gdr
