// Packets that are malformed, damaged, misdirected or forged, sent from a plain socket to a queue
// pair that is in use: none changes memory, each is counted by its cause, and the device goes on
// working.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <optional>

#include "addresses.h"
#include "base/clock.h"
#include "link.h"
#include "raw_peer.h"
#include "side.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 8192;
constexpr std::uint8_t kUntouched = 0x5a, kWritten = 0x77;
constexpr std::size_t kPayload = 64;

class WrongPackets : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Link::make({.kind = LinkKind::kLoopback});
    ASSERT_TRUE(made) << made.error().message;
    link_ = *std::move(made);
    host_.emplace([this](Wire& wire) { be_host(wire); });
    second_ = host_->wire().receive<Endpoint>();
    endpoint_ = host_->wire().receive<Endpoint>();
    remote_ = host_->wire().receive<Remote>();
    peer_.emplace(link_->address(1), link_->address(0));
  }

  // Its memory is as it was whenever it is asked, until a right packet has come.
  void be_host(Wire& wire) {
    link_->enter(0);
    const std::string devices =
        "soft0/ip=" + link_->address(0) + ",soft1/ip=" + loopback_address(2);
    setenv("GDR_SOFT_DEVICES", devices.c_str(), 1);
    Side side, second(1);
    ibv_qp* other = second.queue_pair(IBV_QPT_UD);
    second.connect(other);  // so that its port is open
    wire.send(second.endpoint(other));
    Memory& memory = side.memory(kBytes);
    memory.fill(kUntouched);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    side.connect(qp, raw_endpoint(link_->address(1)));
    wire.send(side.endpoint(qp));
    wire.send(memory.remote());
    (void)wire.receive<char>();
    require(memory.first_not(kUntouched, 0, kBytes) == -1, "no wrong packet changes memory");
    wire.send('.');
    (void)wire.receive<char>();
    require(soon([&] { return memory.first_not(kWritten, 128, kPayload) == -1; }),
            "a right packet is placed");
    require(memory.first_not(kUntouched, 0, 128) == -1, "nothing in front of it");
    require(memory.first_not(kUntouched, 128 + kPayload, kBytes - 128 - kPayload) == -1,
            "nor behind");
    wire.send('.');
    (void)wire.receive<char>();
  }

  // A write of 64 bytes, right in everything.
  wire::Packet write_packet(std::uint64_t offset, std::uint32_t psn) {
    wire::Packet packet = request_packet(wire::Transport::kReliableConnection,
                                         wire::Operation::kWriteOnly, endpoint_.number, psn);
    packet.reth = {remote_.address + offset, remote_.key, kPayload};
    return packet;
  }

  Bytes bytes_of(const wire::Packet& packet) {
    return peer_->bytes_of(packet, Bytes(kPayload, std::byte{kWritten}));
  }
  void send(const Bytes& bytes) { peer_->send(bytes); }

  // The host has counted it, soon.
  void expect_counted(const char* cause, std::uint64_t times = 1) {
    EXPECT_TRUE(soon([&] { return link_->counted(0, cause) >= times; }));
    EXPECT_EQ(link_->counted(0, cause), times) << cause;
  }

  void ask_host() {
    host_->wire().send('?');
    EXPECT_EQ(host_->wire().receive<char>(), '.');
  }

  // A write between two addresses of which one is not the connection's, and then between its own.
  void expect_not_taken_between(const std::string& from, const std::string& to) {
    peer_.emplace(from, to);
    send(bytes_of(write_packet(128, 0)));
    expect_counted("wrong_address");
    ask_host();
    peer_.emplace(link_->address(1), link_->address(0));
    send(bytes_of(write_packet(128, 0)));
    ask_host();
    host_->wire().send('.');
    host_->finish();
  }

  std::unique_ptr<Link> link_;
  std::optional<Child> host_;
  Endpoint second_{};  // of the host's other device
  Endpoint endpoint_{};
  Remote remote_{};
  std::optional<RawPeer> peer_;
};

TEST_F(WrongPackets, ChangeNothingAreCountedByCauseAndDoNotStopTheDevice) {
  const Bytes right = bytes_of(write_packet(128, 0));

  send(Bytes(5));                                  // shorter than any header
  send(Bytes(right.begin(), right.begin() + 20));  // ends within its headers
  Bytes unknown = right;
  unknown[0] = std::byte{0x1f};  // no such opcode
  send(unknown);
  expect_counted("malformed", 3);

  Bytes damaged = right;
  damaged[40] ^= std::byte{1};
  send(damaged);
  expect_counted("wrong_icrc");

  wire::Packet packet = write_packet(128, 0);
  packet.destination_qp = endpoint_.number + 1;  // of that process, but nobody's
  send(bytes_of(packet));
  expect_counted("unknown_queue_pair");

  packet = write_packet(128, 0);
  packet.opcode =
      wire::make_opcode(wire::Transport::kUnreliableConnection, wire::Operation::kWriteOnly);
  packet.info = wire::find_opcode(packet.opcode);
  send(bytes_of(packet));
  expect_counted("wrong_transport");

  packet = write_packet(128, 0);
  packet.partition_key = 0x1234;
  send(bytes_of(packet));
  expect_counted("wrong_partition_key");

  send(bytes_of(write_packet(128, 5000)));  // ahead of what is expected
  expect_counted("out_of_sequence_request");
  send(bytes_of(write_packet(128, wire::kPsnMask - 7)));  // from before the first
  expect_counted("impossible_request");

  ask_host();
  send(right);
  ask_host();

  packet = write_packet(128, 1);
  packet.reth.rkey ^= 0x10;
  send(bytes_of(packet));
  expect_counted("remote_access_refused");
  send(bytes_of(write_packet(128, 1)));  // the refusal has ended the connection
  expect_counted("not_receiving");
  host_->wire().send('.');
  host_->finish();
}

TEST_F(WrongPackets, FromAnotherAddressThanThePeersAreNotForTheConnection) {
  expect_not_taken_between(loopback_address(3), link_->address(0));
}

TEST_F(WrongPackets, ToAnotherAddressOfTheHostAreNotForTheConnection) {
  const std::uint8_t* ipv4 = second_.gid.raw + 12;
  std::string text = std::to_string(ipv4[0]);
  for (int i = 1; i < 4; ++i) text += "." + std::to_string(ipv4[i]);
  expect_not_taken_between(link_->address(1), text);
}

}  // namespace
}  // namespace gdr::test
