// What a PCI Express link can carry, at most.
//
// bytes/s = transfers/s a lane × lanes × encoding ÷ 8 × payload ÷ (payload + overhead)
//
// Encoding: 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s, 236 bytes of packets in a FLIT of 256
// from 64 GT/s on (PCI Express Base Specification 6.0, sections 4.2.1, 4.2.2 and 4.2.3).
// Overhead of a packet: framing and sequence number, header and LCRC: 24 bytes for a write to a
// 64-bit address, 20 for a completion that carries what was read (the same, sections 2.2 and 3.6;
// R. Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018).
// Acknowledgements and flow control take a few percent more, which are not counted: no measurement
// reaches more than this, and a good one comes near.
//
//   pcie_bytes_per_second(16, 16, 256, PcieTraffic::kWrites)   // 28.8e9
#pragma once

#include <cstdint>
#include <string>

namespace gdr::perf {

enum class PcieTraffic : std::uint8_t {
  kWrites,  // the device writes memory: what arrives from the network
  kReads    // the device reads memory: what it sends
};

// `gigatransfers` a second and lane; `max_payload` 0: not known, and taken as 512 bytes, the most
// that servers' root ports use, so that the limit is never too low. 0 where the link is not known.
double pcie_bytes_per_second(double gigatransfers, unsigned width, unsigned max_payload,
                             PcieTraffic traffic);

// 16 GT/s: 4; 0 where there is no such generation.
unsigned pcie_generation(double gigatransfers);
// "gen 4 x16"
std::string pcie_text(double gigatransfers, unsigned width);

}  // namespace gdr::perf
