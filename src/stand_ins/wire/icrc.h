// The invariant CRC of RoCEv2 (annex A17.3.3 "ICRC over UDP"): CRC-32 over eight bytes of ones, the
// IP and UDP headers with every field that a router or an adapter may change replaced by ones, the
// BTH with its reserved byte replaced by ones, extended headers, payload and padding. On the wire
// its bytes stand in little-endian order.
//
//   wire::Flow flow{.source = a, .destination = b, .source_port = p, .destination_port = 4791};
//   std::uint32_t crc = wire::icrc_of(flow, identification, bytes_without_icrc);
//
//   wire::Icrc state = wire::icrc_begin(flow, identification, udp_payload_bytes, headers);
//   state.add(payload); state.add(padding);
//   store_le32(to, state.value());
//
// IPv4: the identification is covered and not masked, and the kernel chooses it. Whoever cannot see
// it solves for it: see solve_identification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace gdr::wire {

constexpr std::uint16_t kRocePort = 4791;

// An IPv6 address, or an IPv4 one as ::ffff:a.b.c.d, as in a GID.
using Address = std::array<std::uint8_t, 16>;

// By words: for 16 bytes the compiler calls memcmp, and these are asked of every packet. Hot.
inline bool is_same(const Address& one, const Address& other) {
  std::uint64_t a[2], b[2];
  std::memcpy(a, one.data(), sizeof a);
  std::memcpy(b, other.data(), sizeof b);
  return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}
inline bool is_ipv4(const Address& address) {
  std::uint64_t zeros;
  std::uint32_t ones;
  std::memcpy(&zeros, address.data(), sizeof zeros);
  std::memcpy(&ones, address.data() + sizeof zeros, sizeof ones);
  return zeros == 0 && ones == 0xffff'0000;
}

struct Flow {
  Address source, destination;
  std::uint16_t source_port, destination_port;
};

class Icrc {
 public:
  explicit Icrc(std::uint32_t state) : state_(state) {}
  void add(std::span<const std::byte> bytes);
  // The bytes on the wire, read in little-endian order.
  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_;
};

// `udp_payload`: bytes of BTH, extended headers, payload, padding and ICRC. `identification` is
// IPv4's; IPv6 ignores it. IPv4 packets have "do not fragment" set, as RoCE's always do. `headers`:
// at least the BTH, whose byte 4 (FECN, BECN, reserved) is masked, and what follows it in one
// piece.
Icrc icrc_begin(const Flow& flow, std::uint16_t identification, std::size_t udp_payload,
                std::span<const std::byte> headers);
std::uint32_t icrc_of(const Flow& flow, std::uint16_t identification,
                      std::span<const std::byte> without_icrc);

// What `identification` was, if there is one for which a packet with those many UDP payload bytes
// (ICRC included), whose ICRC would be `computed` for identification 0, has the ICRC `received`.
// One corrupted packet in 65536 finds one, too: the caller looks whether it is a likely one.
std::optional<std::uint16_t> solve_identification(std::uint32_t computed, std::uint32_t received,
                                                  std::size_t udp_payload);

// --- CRC-32 (IEEE 802.3, reflected), of raw state: no inversion before or behind.
using CrcFunction = std::uint32_t (*)(std::uint32_t state, const std::byte* bytes,
                                      std::size_t count);
// Checksum of 32 bytes in four words, the first byte in the lowest bits of the first word, from a
// state of zeros, which leading zeros do not change. By value, so that newly computed words need
// not go through memory.
using CrcOf32Function = std::uint32_t (*)(std::uint64_t, std::uint64_t, std::uint64_t,
                                          std::uint64_t);
struct CrcVersion {
  const char* name;  // "table", "pclmul", "vpclmul"
  CrcFunction update;
  CrcOf32Function of_32;
};
// All that this processor runs, slowest first. The last is what crc_update() uses.
std::span<const CrcVersion> crc_versions();
std::uint32_t crc_update(std::uint32_t state, const std::byte* bytes, std::size_t count);
std::uint32_t crc_of_32(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                        std::uint64_t fourth);

}  // namespace gdr::wire
