// Any bytes as what a UDP datagram to port 4791 brings: nothing is read outside them, a packet that
// is taken is written back as it came, its ICRC is the same however it is cut, and gives away the
// identification of its IP header.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "input.h"
#include "reserved_bits.h"
#include "wire/icrc.h"
#include "wire/packet.h"
#include "wire/printer.h"

namespace {

using gdr::test::require;

using namespace gdr::wire;

void require_line(const std::string& text) {
  require(!text.empty() && text.find('\n') == std::string::npos);
}

void check_extent(const Packet& packet, std::span<const std::byte> datagram) {
  require(packet.info == find_opcode(packet.opcode));
  require(packet.pad <= 3 && packet.payload.size() <= kMostPayload);
  require(packet.payload.data() == datagram.data() + packet.info->header_bytes);
  require(packet.info->header_bytes + packet.payload.size() + packet.pad + kIcrcBytes ==
          datagram.size());
  require(packet.info->is(kPayload) || packet.payload.size() + packet.pad == 0);
}

void check_headers(const Packet& packet, std::span<const std::byte> datagram) {
  // In an allocation of just their size, so that the address sanitizer sees a byte too far.
  std::vector<std::byte> written(packet.info->header_bytes);
  require(write_headers(packet, written.data()) == written.size());
  std::vector<std::byte> came(datagram.begin(),
                              datagram.begin() + static_cast<std::ptrdiff_t>(written.size()));
  clear_reserved_bits(came, *packet.info);
  require(written == came);
}

// The addresses and ports are bytes of the packet, too.
Flow flow_of(std::span<const std::byte> bytes, bool ipv4) {
  Flow flow{};
  if (ipv4) {
    flow.source[10] = flow.source[11] = flow.destination[10] = flow.destination[11] = 0xff;
  } else {
    flow.source[0] = 0xfe;
  }
  std::memcpy(flow.source.data() + 12, bytes.data(), 4);
  std::memcpy(flow.destination.data() + 12, bytes.data() + 4, 4);
  flow.source_port = gdr::load_be16(bytes.data() + 8);
  flow.destination_port = kRocePort;
  return flow;
}

void check_icrc(const Packet& packet, std::span<const std::byte> datagram) {
  const std::span<const std::byte> covered = datagram.first(datagram.size() - kIcrcBytes);
  const std::uint16_t identification = gdr::load_be16(covered.data() + 10);
  for (const bool ipv4 : {false, true}) {
    const Flow flow = flow_of(covered, ipv4);
    const std::uint32_t whole = icrc_of(flow, identification, covered);
    Icrc icrc =
        icrc_begin(flow, identification, datagram.size(), covered.first(packet.info->header_bytes));
    icrc.add(packet.payload);
    icrc.add(covered.last(packet.pad));
    require(icrc.value() == whole);
    const std::uint32_t without = icrc_of(flow, 0, covered);
    require(solve_identification(without, whole, datagram.size()) == (ipv4 ? identification : 0));
  }
}

void check_versions(std::span<const std::byte> bytes) {
  const std::uint32_t expected = crc_versions().front().update(1, bytes.data(), bytes.size());
  for (const CrcVersion& version : crc_versions()) {
    require(version.update(1, bytes.data(), bytes.size()) == expected);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> datagram = std::as_bytes(std::span(data, size));
  check_versions(datagram);
  Packet packet;
  const ParseError error = parse(datagram, &packet);
  if (error != ParseError::kNone) {
    require_line(describe(error));
    return 0;
  }
  check_extent(packet, datagram);
  require_line(describe(packet));
  check_headers(packet, datagram);
  check_icrc(packet, datagram);
  return 0;
}
