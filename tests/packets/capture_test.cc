// What GDR_SOFT_PCAP writes, as Wireshark's own decoder reads it: a packet of every opcode.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "net/pcap_port.h"
#include "wire/packet.h"

namespace gdr::test {
namespace {

constexpr wire::Address kSource = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
constexpr wire::Address kDestination = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2};
constexpr wire::Flow kFlow = {kSource, kDestination, wire::kRocePort, wire::kRocePort};

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) text += line;
  pclose(pipe);
  return text;
}

std::vector<std::byte> packet_of(const wire::OpcodeInfo& info, std::uint8_t opcode) {
  wire::Packet packet{};
  packet.info = &info;
  packet.opcode = opcode;
  packet.partition_key = wire::kDefaultPartitionKey;
  packet.destination_qp = 0x1234;
  packet.psn = opcode;
  packet.reth = {0x7f0012345000, 0x1234'5678, 61};
  packet.aeth = {wire::make_syndrome(wire::Acknowledge::kAck, wire::kNoCredits), 1};
  packet.deth = {0x1111'1111, 0x99};
  packet.xrc_srq = 0x77;
  const std::size_t payload = info.is(wire::kPayload) ? 61 : 0;
  packet.pad = payload == 0 ? 0 : 3;
  std::vector<std::byte> bytes(wire::kMostHeaderBytes);
  bytes.resize(wire::write_headers(packet, bytes.data()));
  bytes.resize(bytes.size() + payload + packet.pad, std::byte{0x42});
  const std::uint32_t icrc = wire::icrc_of(kFlow, 0, bytes);
  bytes.resize(bytes.size() + sizeof icrc);
  std::memcpy(bytes.data() + bytes.size() - sizeof icrc, &icrc, sizeof icrc);
  return bytes;
}

TEST(Capture, TsharkDecodesAPacketOfEveryOpcodeWithoutAMalformedOne) {
  if (output_of("tshark --version").empty()) GTEST_SKIP() << "no tshark: install the package";
  char name[] = "/tmp/gdr-capture-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  close(file);
  std::set<int> written;
  {
    auto capture = net::PcapFile::open(name);
    ASSERT_TRUE(capture) << capture.error().message;
    for (int opcode = 0; opcode < 256; ++opcode) {
      const auto* info = wire::find_opcode(static_cast<std::uint8_t>(opcode));
      if (info == nullptr) continue;
      (*capture)->write(kFlow, packet_of(*info, static_cast<std::uint8_t>(opcode)), 0);
      written.insert(opcode);
    }
  }
  const std::string tshark = std::string("tshark -r ") + name + " -o ip.check_checksum:TRUE ";
  const std::string opcodes = output_of(tshark + "-T fields -e infiniband.bth.opcode");
  EXPECT_EQ(output_of(tshark + "-Y '_ws.malformed || ip.checksum.status == Bad' -V"), "");
  unlink(name);
  std::set<int> decoded;
  for (std::size_t at = 0; at < opcodes.size();) {
    const std::size_t end = opcodes.find('\n', at);
    const std::string line = opcodes.substr(at, end - at);
    if (!line.empty()) decoded.insert(std::stoi(line, nullptr, 0));
    at = end == std::string::npos ? opcodes.size() : end + 1;
  }
  EXPECT_EQ(decoded, written);
}

}  // namespace
}  // namespace gdr::test
