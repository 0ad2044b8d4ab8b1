// Port: where packets leave and arrive: UDP port 4791 of one address. UdpPort is the real one;
// FaultyPort and PcapPort wrap one. One page, on purpose.
//
// Threads: send() any, receive() one at a time.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "wire/icrc.h"

namespace gdr::net {

// A run of packets to one destination, all of one length but the last, which may be shorter. The
// IPv4 identification of the i-th is i: see udp_port.h.
struct Burst {
  wire::Address destination;
  std::uint16_t source_port = wire::kRocePort;  // or that of a PrivateSocket
  std::uint8_t traffic_class = 0;
  bool congested = false;          // leaves marked as if a router had done it (ECN)
  std::span<const iovec> pieces;   // of all packets, one behind the other
  std::uint32_t packet_bytes = 0;  // UDP payload of each but the last
  std::uint32_t bytes = 0;         // of all
  std::uint32_t packets() const { return (bytes + packet_bytes - 1) / packet_bytes; }
};

inline std::vector<std::byte> bytes_of(const Burst& burst) {
  std::vector<std::byte> all;
  all.reserve(burst.bytes);
  for (const iovec& piece : burst.pieces) {
    const auto* bytes = static_cast<const std::byte*>(piece.iov_base);
    all.insert(all.end(), bytes, bytes + piece.iov_len);
  }
  return all;
}

// Limits of a burst: what the kernel's segmentation takes (UDP_MAX_SEGMENTS), and one IP packet.
constexpr std::uint32_t kMostPackets = 60;
constexpr std::uint32_t kMostBurstBytes = 65'000;

// So many of a port's arrivals are taken before others get their turn.
constexpr std::uint32_t kMostArrivals = 16;

// Packets that arrived together from one source, all of one length but the last.
struct Arrival {
  wire::Address source;
  std::uint16_t source_port = 0;
  std::span<const std::byte> bytes;  // valid until the next receive()
  std::uint32_t packet_bytes = 0;
  bool congested = false;  // marked by a router (ECN)
  bool is_stray = false;   // handed over by another process: port_sharing.h
};

class Port {
 public:
  virtual ~Port() = default;

  // 0, or an errno value: nothing of it, or only its beginning, was sent.
  virtual int send(const Burst& burst) = 0;
  // False: nothing is there.
  virtual bool receive(Arrival* arrival) = 0;
  virtual int descriptor() const = 0;  // readable while something is there
  virtual const wire::Address& address() const = 0;
  // When to look again although nothing arrives: a delayed packet is due.
  virtual Nanoseconds next_timeout() const { return ~Nanoseconds{0}; }
};

}  // namespace gdr::net
