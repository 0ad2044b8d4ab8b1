// Mad: a management datagram (MAD) on queue pair 1, "general services" (13.4, 16.7), as far as its
// way asks for it: the packet around it, and for which process it is. What connection management
// means by it is src/stand_ins/cm's.
//
//   if (std::optional<MadRoute> route = route_of(mad)) ...      // nothing: none that is known here
//   std::vector<std::byte> packet = make_mad_packet(flow, psn, mad);
//   Mad refusal = make_refusal(request);                        // of a REQ or SIDR_REQ
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "wire/icrc.h"
#include "wire/packet.h"

namespace gdr::net {

constexpr std::size_t kMadBytes = 256;
constexpr std::uint32_t kGeneralServicesQueuePair = 1;
constexpr std::uint32_t kGeneralServicesQkey = 0x8001'0000;
constexpr std::uint32_t kMadPacketBytes =
    wire::kBthBytes + wire::kDethBytes + kMadBytes + wire::kIcrcBytes;

// Where a MAD says what it is and whom it is for (13.4.2, 12.6, 12.11): the attribute, the ids, and
// in the two requests the service id.
constexpr std::uint32_t kMadAttributeAt = 16, kMadLocalIdAt = 24, kMadRemoteIdAt = 28;
constexpr std::uint32_t kMadServiceIdAt = 32;
constexpr std::uint16_t kMadReq = 0x10, kMadSidrReq = 0x17, kMadSidrRep = 0x18;

struct Mad {
  wire::Address source{}, destination{};
  std::array<std::byte, kMadBytes> bytes{};
};

struct MadRoute {
  // A REQ or SIDR_REQ is for whoever listens for `number`, a service id; every other message for
  // whoever made the id that it answers to, `number`.
  bool is_request = false;
  std::uint64_t number = 0;
};

// Nothing: not a message of connection management (class 7, version 2) that has such a number.
std::optional<MadRoute> route_of(const Mad& mad);

// REJ with reason 8 (12.6.7.2), or SIDR_REP with status 1 (12.11.1): nobody is there for that
// service id.
Mad make_refusal(const Mad& request);

// DREP (12.6.10) to a DREQ. Nothing: it is another message.
std::optional<Mad> make_disconnected(const Mad& request);

// With its ICRC, for the IPv4 identification 0.
std::vector<std::byte> make_mad_packet(const wire::Flow& flow, std::uint32_t psn, const Mad& mad);

// Ids that processes give out: the slot in the upper 12 bits, and 20 of the process's own choice.
constexpr std::uint32_t kMadIdBits = 20;

}  // namespace gdr::net
