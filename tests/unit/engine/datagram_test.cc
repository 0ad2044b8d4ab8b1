// UD: one packet a message.
#include "engine/datagram.h"

#include "fixture.h"

namespace gdr::engine::test {
namespace {

constexpr std::uint32_t kQkey = 0x11111111;

class Ud : public Link {
 protected:
  Ud() : Link(wire::Transport::kUnreliableDatagram) { owner.receives = {1000}; }
  wire::Packet datagram(Operation operation, std::size_t size, std::uint32_t qkey = kQkey) {
    wire::Packet made_packet = with_payload(operation, 0, size);
    made_packet.deth = {qkey, kPeer};
    return made_packet;
  }
};

TEST_F(Ud, SendsOnePacketToWhomTheWorkNames) {
  Datagram sender(0x77);
  sender.start_sending(0xffffff);
  Work given = work(WorkKind::kSendImmediate, 5);
  given.destination_qp = 0x88;
  given.qkey = kQkey;
  given.immediate = 3;
  given.solicited = true;
  Transmit sent{};
  sender.build(given, &sent);
  EXPECT_EQ(sent.packet.operation(), Operation::kSendOnlyImmediate);
  EXPECT_EQ(sent.packet.transport(), wire::Transport::kUnreliableDatagram);
  EXPECT_EQ(sent.packet.destination_qp, 0x88u);
  EXPECT_EQ(sent.packet.deth.qkey, kQkey);
  EXPECT_EQ(sent.packet.deth.source_qp, 0x77u);
  EXPECT_EQ(sent.packet.psn, 0xffffffu);
  EXPECT_EQ(sent.packet.immediate, 3u);
  EXPECT_TRUE(sent.packet.solicited);
  EXPECT_EQ(sent.source, Source::kWork);
  EXPECT_EQ(sent.payload_bytes, 5u);
  EXPECT_EQ(sent.packet.pad, 3u);
  sender.build(given, &sent);
  EXPECT_EQ(sent.packet.psn, 0u);
}

TEST_F(Ud, LeavesRoomForTheGlobalRouteHeader) {
  Datagram::receive(datagram(Operation::kSendOnly, 16), kQkey, owner);
  EXPECT_EQ(owner.placed, (std::vector<Placement>{{40, 16}}));
  ASSERT_EQ(owner.received.size(), 1u);
  EXPECT_EQ(owner.received[0].bytes, 56u);
  EXPECT_EQ(owner.received[0].source_qp, kPeer);
}

TEST_F(Ud, DropsAnotherQueueKey) {
  Datagram::receive(datagram(Operation::kSendOnly, 16, kQkey + 1), kQkey, owner);
  EXPECT_TRUE(owner.received.empty());
  EXPECT_EQ(owner.events[Event::kWrongQkey], 1);
}

TEST_F(Ud, DropsWhatFindsNoReceiveOrTooSmallAOne) {
  owner.receives.clear();
  Datagram::receive(datagram(Operation::kSendOnly, 16), kQkey, owner);
  EXPECT_EQ(owner.events[Event::kDroppedNoReceive], 1);
  owner.receives = {50, 1000};
  Datagram::receive(datagram(Operation::kSendOnly, 16), kQkey, owner);
  EXPECT_EQ(owner.events[Event::kDroppedMessage], 1);
  EXPECT_TRUE(owner.received.empty());
  EXPECT_EQ(owner.receives.size(), 2u);
}

TEST_F(Ud, AReceiveWhoseKeysAreWrongSaysSo) {
  owner.receive_result = Placed::kFault;
  Datagram::receive(datagram(Operation::kSendOnly, 16), kQkey, owner);
  ASSERT_EQ(owner.received.size(), 1u);
  EXPECT_EQ(owner.received[0].outcome, Placed::kFault);
}

TEST_F(Ud, IgnoresPacketsOfAnotherTransport) {
  wire::Packet given = datagram(Operation::kSendOnly, 16);
  given.opcode = wire::make_opcode(wire::Transport::kReliableConnection, Operation::kSendOnly);
  given.info = wire::find_opcode(given.opcode);
  Datagram::receive(given, kQkey, owner);
  EXPECT_TRUE(owner.received.empty());
  EXPECT_EQ(owner.events[Event::kInvalidRequest], 1);
}

}  // namespace
}  // namespace gdr::engine::test
