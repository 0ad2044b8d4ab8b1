// Loads and stores of network byte order at any alignment.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace gdr {

inline std::uint16_t load_be16(const void* from) {
  std::uint16_t v;
  std::memcpy(&v, from, sizeof v);
  return __builtin_bswap16(v);
}
inline std::uint32_t load_be32(const void* from) {
  std::uint32_t v;
  std::memcpy(&v, from, sizeof v);
  return __builtin_bswap32(v);
}
inline std::uint64_t load_be64(const void* from) {
  std::uint64_t v;
  std::memcpy(&v, from, sizeof v);
  return __builtin_bswap64(v);
}
inline void store_be16(void* to, std::uint16_t v) {
  v = __builtin_bswap16(v);
  std::memcpy(to, &v, sizeof v);
}
inline void store_be32(void* to, std::uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(to, &v, sizeof v);
}
inline void store_be64(void* to, std::uint64_t v) {
  v = __builtin_bswap64(v);
  std::memcpy(to, &v, sizeof v);
}
static_assert(std::endian::native == std::endian::little, "gdrkit runs on little-endian hosts");

}  // namespace gdr
