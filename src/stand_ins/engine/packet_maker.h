// PacketMaker: the part of a packet that all packets of one connection share. Hot: the opcode table
// is looked up once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "engine/owner.h"
#include "engine/transmit.h"

namespace gdr::engine {

// How many packets `length` bytes need; an empty message is one packet, too. A path MTU is a power
// of two.
constexpr std::uint32_t packets_of(std::uint64_t length, std::uint32_t path_mtu) {
  const int shift = std::countr_zero(path_mtu);
  return length == 0 ? 1 : static_cast<std::uint32_t>((length + path_mtu - 1) >> shift);
}

class PacketMaker {
 public:
  PacketMaker(wire::Transport transport, std::uint32_t destination_qp);

  // The BTH, and no payload.
  void begin(wire::Operation operation, std::uint32_t psn, Transmit* transmit) const;
  // One packet of a send or a write: `index` of `packets`. All but the acknowledge request bit and
  // `work`.
  void request(const Work& work, std::uint32_t index, std::uint32_t packets, std::uint32_t path_mtu,
               std::uint32_t psn, Transmit* transmit) const;
  static void set_payload(Source source, std::uint32_t bytes, Transmit* transmit);

 private:
  std::array<const wire::OpcodeInfo*, 32> infos_;
  wire::Transport transport_;
  std::uint32_t destination_qp_;
};

}  // namespace gdr::engine
