#include "rsockets/protocol.h"

#include <algorithm>
#include <bit>

namespace gdr::rsockets {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kBigEndian = 1 << 0;
constexpr std::uint8_t kTakesMappings = 1 << 1;

template <typename Integer>
void put(std::uint8_t* to, Integer value, bool big_endian) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    const std::size_t place = big_endian ? sizeof value - 1 - i : i;
    to[place] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

template <typename Integer>
Integer get(const std::uint8_t* from) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value = static_cast<Integer>(value << 8 | from[i]);
  }
  return value;
}

void put_range(std::uint8_t* to, const RemoteRange& range, bool big_endian) {
  put(to, range.address, big_endian);
  put(to + 8, range.key, big_endian);
  put(to + 12, range.length, big_endian);
}

RemoteRange get_range(const std::uint8_t* from) {
  return {get<std::uint64_t>(from), get<std::uint32_t>(from + 8), get<std::uint32_t>(from + 12)};
}

}  // namespace

std::array<std::uint8_t, kConnectionDataBytes> encode(const ConnectionData& data) {
  std::array<std::uint8_t, kConnectionDataBytes> bytes{};
  bytes[0] = kVersion;
  bytes[1] = static_cast<std::uint8_t>((data.big_endian ? kBigEndian : 0) |
                                       (data.takes_mappings ? kTakesMappings : 0));
  put(&bytes[2], data.credits, true);
  bytes[7] = mappings_to_byte(data.mappings);
  put_range(&bytes[8], data.targets, true);
  put_range(&bytes[24], data.first_buffer, true);
  return bytes;
}

std::optional<ConnectionData> decode_connection_data(std::span<const std::uint8_t> bytes) {
  // A connection manager pads private data with zeros, so more than we need is no error.
  if (bytes.size() < kConnectionDataBytes || bytes[0] != kVersion) return std::nullopt;
  ConnectionData data;
  data.big_endian = (bytes[1] & kBigEndian) != 0;
  data.takes_mappings = (bytes[1] & kTakesMappings) != 0;
  data.credits = get<std::uint16_t>(&bytes[2]);
  data.mappings = data.takes_mappings ? mappings_from_byte(bytes[7]) : 0;
  data.targets = get_range(&bytes[8]);
  data.first_buffer = get_range(&bytes[24]);
  // Its list is addressed by an index that goes round, so there must be entries.
  if (data.targets.length == 0) return std::nullopt;
  return data;
}

std::uint8_t mappings_to_byte(std::uint32_t mappings) {
  if (mappings <= 128) return static_cast<std::uint8_t>(mappings);
  return static_cast<std::uint8_t>(128 | std::min(mappings >> 8, 127U));
}

std::uint32_t mappings_from_byte(std::uint8_t byte) {
  return byte <= 128 ? byte : (byte & 127U) << 8;
}

std::array<std::uint8_t, kTargetBytes> encode_target(const RemoteRange& range, bool big_endian) {
  std::array<std::uint8_t, kTargetBytes> bytes{};
  put_range(bytes.data(), range, big_endian);
  return bytes;
}

std::array<std::uint8_t, kMappingBytes> encode_mapping(std::uint64_t offset,
                                                       const RemoteRange& range, bool big_endian) {
  std::array<std::uint8_t, kMappingBytes> bytes{};
  put(bytes.data(), offset, big_endian);
  put_range(&bytes[8], range, big_endian);
  return bytes;
}

}  // namespace gdr::rsockets
