#include "net/pcap_port.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "../wire/ip_packet.h"
#include "base/internet_checksum.h"
#include "file_size_limit.h"
#include "packets.h"

namespace gdr::net {
namespace {

using wire::IpPacket;

class PcapPortTest : public testing::Test {
 protected:
  PcapPortTest() : path_(testing::TempDir() + "/gdr-pcap-" + std::to_string(getpid())) {
    std::remove(path_.c_str());
  }
  ~PcapPortTest() override { std::remove(path_.c_str()); }

  void open() {
    auto file = PcapFile::open(path_);
    ASSERT_TRUE(file) << file.error().message;
    auto inner = std::make_unique<FakePort>(here_);
    inner_ = inner.get();
    port_ = std::make_unique<PcapPort>(std::move(inner), *std::move(file));
  }

  // What the file holds: packets from their IP header on.
  std::vector<IpPacket> read() const {
    std::ifstream file(path_, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    std::uint32_t link_type = 0;
    EXPECT_GE(text.size(), 24u);
    std::memcpy(&link_type, text.data() + 20, sizeof link_type);
    EXPECT_EQ(link_type, 101u);  // raw IP
    std::vector<IpPacket> packets;
    for (std::size_t at = 24; at < text.size();) {
      std::uint32_t header[4];
      if (at + sizeof header > text.size()) break;
      std::memcpy(header, text.data() + at, sizeof header);
      EXPECT_LT(header[1], 1'000'000'000u);
      EXPECT_EQ(header[2], header[3]);
      at += sizeof header;
      EXPECT_LE(at + header[2], text.size());
      if (at + header[2] > text.size()) break;
      const auto* first = reinterpret_cast<const std::byte*>(text.data()) + at;
      packets.emplace_back(std::span(first, header[2]));
      at += header[2];
    }
    return packets;
  }

  const std::string path_;
  const wire::Address here_ = ipv4(10, 0, 0, 1), there_ = ipv4(10, 0, 0, 2);
  const wire::Flow out_ = flow_between(here_, there_), in_ = flow_between(there_, here_);
  FakePort* inner_ = nullptr;
  std::unique_ptr<PcapPort> port_;
};

TEST_F(PcapPortTest, WritesWhatLeavesWithTheHeadersThatTheKernelMakes) {
  open();
  ASSERT_EQ(send_burst(*port_, there_, {make_packet(out_, 0, 5), make_packet(out_, 1, 6, 9)}), 0);
  EXPECT_EQ(inner_->sent.size(), 1u) << "and passes it on as it is";
  const auto packets = read();
  ASSERT_EQ(packets.size(), 2u);
  for (std::uint16_t i = 0; i < 2; ++i) {
    const IpPacket& packet = packets[i];
    EXPECT_EQ(load_be16(&packet.bytes[2]), packet.bytes.size());
    EXPECT_EQ(packet.identification(), i);
    EXPECT_EQ(internet_checksum(std::span(packet.bytes).first(20)), 0);
    EXPECT_EQ(load_be16(&packet.bytes[24]), packet.bytes.size() - 20) << "UDP's length";
    EXPECT_EQ(load_be16(&packet.bytes[26]), 0) << "none, as RoCE hardware sends it";
    EXPECT_EQ(packet.flow().source, here_);
    EXPECT_EQ(packet.flow().destination, there_);
    EXPECT_EQ(packet.flow().source_port, wire::kRocePort);
    EXPECT_EQ(packet.flow().destination_port, wire::kRocePort);
    EXPECT_EQ(packet.icrc(), packet.slow_icrc()) << "as another computes it from the very bytes";
    EXPECT_EQ(psn_of({packet.datagram().begin(), packet.datagram().end()}), 5u + i);
  }
}

TEST_F(PcapPortTest, WritesWhatArrivesWithTheIdentificationThatItsIcrcWasMadeFor) {
  open();
  const Bytes packet = make_packet(in_, 0x4321, 5);
  inner_->arrivals.push_back({there_, 0, static_cast<std::uint32_t>(packet.size()), packet});
  Arrival arrival;
  ASSERT_TRUE(port_->receive(&arrival));
  ASSERT_FALSE(port_->receive(&arrival));
  const auto packets = read();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].identification(), 0x4321);
  EXPECT_EQ(packets[0].flow().source, there_);
  EXPECT_EQ(packets[0].icrc(), packets[0].slow_icrc());
}

TEST_F(PcapPortTest, WritesEachOfThePacketsThatArriveTogether) {
  open();
  Bytes both = make_packet(in_, 0, 5);
  const auto length = static_cast<std::uint32_t>(both.size());
  const Bytes second = make_packet(in_, 1, 6, 20);
  both.insert(both.end(), second.begin(), second.end());
  inner_->arrivals.push_back({there_, 0, length, both});
  Arrival arrival;
  ASSERT_TRUE(port_->receive(&arrival));
  const auto packets = read();
  ASSERT_EQ(packets.size(), 2u);
  for (const IpPacket& packet : packets) EXPECT_EQ(packet.icrc(), packet.slow_icrc());
}

TEST_F(PcapPortTest, WritesIpv6) {
  open();
  auto file = PcapFile::open(path_);
  ASSERT_TRUE(file);
  wire::Address one{}, other{};
  one[0] = other[0] = 0xfd;
  one[15] = 1;
  other[15] = 2;
  (*file)->write(flow_between(one, other), make_packet(flow_between(one, other), 0, 5), 0);
  const auto packets = read();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].flow().source, one);
  EXPECT_EQ(packets[0].flow().destination, other);
  EXPECT_EQ(packets[0].icrc(), packets[0].slow_icrc());
}

TEST_F(PcapPortTest, WritesWhatIsNoPacketOfRoce) {
  open();
  const Bytes noise(3, std::byte{0x55});
  inner_->arrivals.push_back({there_, 0, 3, noise});
  Arrival arrival;
  ASSERT_TRUE(port_->receive(&arrival));
  const auto packets = read();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].datagram().size(), 3u);
}

TEST_F(PcapPortTest, AddsToACaptureWhileOthersDo) {
  constexpr std::uint32_t kEach = 2000;
  std::vector<std::thread> writers;
  for (std::uint32_t writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      const auto file = PcapFile::open(path_);
      ASSERT_TRUE(file);
      for (std::uint32_t i = 0; i < kEach; ++i) {
        (*file)->write(out_, make_packet(out_, 0, writer << 16 | i, i % 1000), 0);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::uint32_t next[3] = {};
  for (const IpPacket& packet : read()) {
    ASSERT_TRUE(has_icrc_for(out_, 0, {packet.datagram().begin(), packet.datagram().end()}));
    const std::uint32_t psn = psn_of({packet.datagram().begin(), packet.datagram().end()});
    ASSERT_LT(psn >> 16, 3u);
    EXPECT_EQ(psn & 0xffff, next[psn >> 16]++);
  }
  for (const std::uint32_t count : next) EXPECT_EQ(count, kEach);
}

TEST_F(PcapPortTest, EndsAtAWholePacketWhereTheFileMayGrowNoFurther) {
  static int told = 0;
  told = 0;
  PcapFile::when_full([](int error) { told += error == EFBIG ? 1 : 1000; });
  constexpr std::size_t kLimit = 4096;
  const std::vector<Bytes> burst = {make_packet(out_, 0, 5), make_packet(out_, 1, 6, 9)};
  {
    const test::FileSizeLimit limit(kLimit);
    open();
    for (int i = 0; i < 100; ++i) ASSERT_EQ(send_burst(*port_, there_, burst), 0);
  }
  PcapFile::when_full(nullptr);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(inner_->sent.size(), 100u) << "packets leave all the same";
  const std::size_t packets = read().size();
  EXPECT_GT(packets, 10u);
  ASSERT_EQ(send_burst(*port_, there_, burst), 0);
  EXPECT_EQ(read().size(), packets) << "what follows would have a gap before it";
}

// As on a disk that is full: the kernel writes what there is room for.
TEST_F(PcapPortTest, TakesAwayTheHalfOfAPacketThatDidNotFit) {
  static int told = 0;
  told = 0;
  PcapFile::when_full([](int) { ++told; });
  open();
  const std::vector<Bytes> burst = {make_packet(out_, 0, 5, 300)};
  ASSERT_EQ(send_burst(*port_, there_, burst), 0);
  const auto whole = std::filesystem::file_size(path_);
  {
    const test::FileSizeLimit limit(whole + 100);
    ASSERT_EQ(send_burst(*port_, there_, burst), 0);
  }
  PcapFile::when_full(nullptr);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(std::filesystem::file_size(path_), whole);
  // Another process goes on behind a whole packet.
  open();
  ASSERT_EQ(send_burst(*port_, there_, burst), 0);
  EXPECT_EQ(read().size(), 2u);
}

TEST_F(PcapPortTest, IsNotBegunWhereItsFirstBytesDoNotFit) {
  {
    const test::FileSizeLimit limit(10);
    const auto file = PcapFile::open(path_);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().message.find("GDR_SOFT_PCAP=" + path_ + ": "), 0u);
  }
  open();
  EXPECT_TRUE(read().empty());
}

TEST_F(PcapPortTest, LeavesAFileThatIsNoCaptureAsItIs) {
  for (const std::string& text : {std::string("short"), std::string(4000, 'x')}) {
    std::ofstream(path_, std::ios::trunc) << text;
    const auto file = PcapFile::open(path_);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, EINVAL);
    EXPECT_EQ(file.error().message.find("GDR_SOFT_PCAP=" + path_), 0u);
    std::ifstream after(path_);
    EXPECT_EQ(std::string((std::istreambuf_iterator<char>(after)), {}), text);
  }
}

TEST_F(PcapPortTest, SaysWhyAFileCannotBeMade) {
  const auto file = PcapFile::open("/nowhere/a.pcap");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, "GDR_SOFT_PCAP=/nowhere/a.pcap: No such file or directory");
}

}  // namespace
}  // namespace gdr::net
