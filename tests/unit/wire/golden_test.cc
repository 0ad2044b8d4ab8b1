// Packets that others made: golden/*.txt. A line "# ..." names the packet that the next line holds
// in hexadecimal digits, from the IP header to the ICRC.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ip_packet.h"
#include "wire/packet.h"
#include "wire/printer.h"

namespace gdr::wire {
namespace {

struct NamedPacket {
  std::string name;
  IpPacket packet;
};

Bytes from_hex(const std::string& digits) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::vector<NamedPacket> packets_of(const std::string& file) {
  std::vector<NamedPacket> packets;
  std::ifstream lines(std::string(GDR_GOLDEN_PACKETS "/") + file);
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line[0] == '#') {
      name = line.substr(line.find_first_not_of("# "));
    } else {
      packets.push_back({name, IpPacket(from_hex(line))});
    }
  }
  return packets;
}

class GoldenPackets : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string(GDR_GOLDEN_PACKETS "/") + GetParam())) {
      GTEST_SKIP() << "no file tests/unit/wire/golden/" << GetParam();
    }
    packets = packets_of(GetParam());
    ASSERT_FALSE(packets.empty());
  }
  std::vector<NamedPacket> packets;
};

TEST_P(GoldenPackets, AreUnderstood) {
  for (const auto& [name, ip] : packets) {
    SCOPED_TRACE(name);
    Packet packet;
    ASSERT_EQ(parse(ip.datagram(), &packet), ParseError::kNone);
    EXPECT_EQ(describe(packet).find(packet.info->name), 0u);
    // The length in the IP header is that of the packet.
    const std::size_t said = load_be16(ip.bytes.data() + (ip.ipv4 ? 2 : 4));
    EXPECT_EQ(said + (ip.ipv4 ? 0 : 40), ip.bytes.size());
  }
}

TEST_P(GoldenPackets, HaveTheIcrcThatIsComputed) {
  for (const auto& [name, ip] : packets) {
    SCOPED_TRACE(name);
    EXPECT_EQ(icrc_of(ip.flow(), ip.identification(), ip.without_icrc()), ip.icrc());
    EXPECT_EQ(ip.slow_icrc(), ip.icrc());
  }
}

TEST_P(GoldenPackets, HaveTheIcrcThatIsComputedInPieces) {
  for (const auto& [name, ip] : packets) {
    SCOPED_TRACE(name);
    Packet packet;
    ASSERT_EQ(parse(ip.datagram(), &packet), ParseError::kNone);
    std::byte headers[kMostHeaderBytes];
    const std::size_t header_bytes = write_headers(packet, headers);
    Icrc icrc =
        icrc_begin(ip.flow(), ip.identification(), ip.datagram().size(), {headers, header_bytes});
    icrc.add(packet.payload);
    icrc.add(ip.without_icrc().last(packet.pad));
    EXPECT_EQ(icrc.value(), ip.icrc());
  }
}

TEST_P(GoldenPackets, GiveTheirIdentificationAway) {
  for (const auto& [name, ip] : packets) {
    if (!ip.ipv4) continue;
    SCOPED_TRACE(name);
    const std::uint32_t computed = icrc_of(ip.flow(), 0, ip.without_icrc());
    EXPECT_EQ(solve_identification(computed, ip.icrc(), ip.datagram().size()), ip.identification());
  }
}

TEST_P(GoldenPackets, AreWrittenAsTheyWere) {
  for (const auto& [name, ip] : packets) {
    SCOPED_TRACE(name);
    Packet packet;
    ASSERT_EQ(parse(ip.datagram(), &packet), ParseError::kNone);
    std::byte headers[kMostHeaderBytes];
    const std::size_t bytes = write_headers(packet, headers);
    ASSERT_EQ(bytes, packet.info->header_bytes);
    EXPECT_EQ(
        Bytes(headers, headers + bytes),
        Bytes(ip.datagram().begin(), ip.datagram().begin() + static_cast<std::ptrdiff_t>(bytes)));
  }
}

// rxe_packets: what the kernel's own software RoCE sent; published_packets: from a published
// capture; zlib_packets: computed by another program (each file says how).
INSTANTIATE_TEST_SUITE_P(File, GoldenPackets,
                         testing::Values("rxe_packets.txt", "published_packets.txt",
                                         "zlib_packets.txt"),
                         [](const testing::TestParamInfo<const char*>& file) {
                           const std::string name = file.param;
                           return name.substr(0, name.find('_'));
                         });

}  // namespace
}  // namespace gdr::wire
