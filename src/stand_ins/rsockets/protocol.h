// The protocol of rdma-core's rsockets, version 1, as both sides put it on the wire: the private
// data that opens a connection, and the 32-bit immediate of each message. No I/O.
//
//   std::array<std::uint8_t, kConnectionDataBytes> bytes = encode(data);
//   if (std::optional<ConnectionData> peer = decode_connection_data(received)) ...
//   const Immediate message = decode_immediate(ntohl(wc.imm_data));
//
// The layout follows docs/rsocket of rdma-core's librdmacm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gdr::rsockets {

// Where a peer may write: an address and key of its own, which are only ever used as remote ones.
struct RemoteRange {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t length = 0;
};

struct ConnectionData {
  bool big_endian = false;      // byte order of what this side expects in its target lists
  bool takes_mappings = false;  // has room for mappings (riomap)
  std::uint16_t credits = 0;    // messages that may be under way towards this side
  std::uint32_t mappings = 0;   // entries of its mapping table
  RemoteRange targets;          // its list of targets; length counts entries
  RemoteRange first_buffer;     // where the first data go
};

constexpr std::size_t kConnectionDataBytes = 40;
constexpr std::uint32_t kTargetEntries = 2;
constexpr std::size_t kTargetBytes = 16;
constexpr std::size_t kMappingBytes = 24;

std::array<std::uint8_t, kConnectionDataBytes> encode(const ConnectionData& data);
// Nothing if it is too short, of another version, or makes no sense.
std::optional<ConnectionData> decode_connection_data(std::span<const std::uint8_t> bytes);

enum class Operation : std::uint8_t {
  kData = 0,     // value: bytes written to the current target
  kTargets = 4,  // value: sequence number up to which the peer may send
  kMapping = 6,  // value: index in the table of mappings
  kControl = 7,  // value: a Control
};

enum class Control : std::uint32_t { kDisconnect = 0, kKeepalive = 1, kShutdown = 2 };

struct Immediate {
  Operation operation = Operation::kData;
  std::uint32_t value = 0;  // 29 bits
};

constexpr std::uint32_t kLargestValue = (1U << 29) - 1;

constexpr std::uint32_t encode(Immediate message) {
  return static_cast<std::uint32_t>(message.operation) << 29 | (message.value & kLargestValue);
}
// Reserved operations come out as they are: the caller refuses what it does not know.
constexpr Immediate decode_immediate(std::uint32_t bits) {
  return {static_cast<Operation>(bits >> 29), bits & kLargestValue};
}

// The number of mappings travels in one byte: up to 128 as it is, above in steps of 256.
std::uint8_t mappings_to_byte(std::uint32_t mappings);
std::uint32_t mappings_from_byte(std::uint8_t byte);

// What is written into a peer's lists, in the byte order that the peer expects.
std::array<std::uint8_t, kTargetBytes> encode_target(const RemoteRange& range, bool big_endian);
std::array<std::uint8_t, kMappingBytes> encode_mapping(std::uint64_t offset,
                                                       const RemoteRange& range, bool big_endian);

}  // namespace gdr::rsockets
