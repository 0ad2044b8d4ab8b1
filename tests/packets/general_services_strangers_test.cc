// Queue pair 1 holds out against others than connection managers: it outlives a flood, refuses
// wrong packets, and takes nothing from a process that speaks for another's address.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "addresses.h"
#include "base/clock.h"
#include "gsi_processes.h"
#include "raw_peer.h"

namespace gdr::test {
namespace {

wire::Packet packet_to_queue_pair_1() {
  wire::Packet packet =
      request_packet(wire::Transport::kUnreliableDatagram, wire::Operation::kSendOnly, 1, 5);
  packet.deth = {kQkey, 1};
  return packet;
}

Bytes request_for(std::uint64_t service, std::uint32_t mark = 0) {
  const gdr_gsi_mad mad = request_mad(1, service, mark);
  const auto* begin = reinterpret_cast<const std::byte*>(mad.bytes);
  return Bytes(begin, begin + sizeof mad.bytes);
}

// Far more than can be looked at, from a source that keeps no rule; meanwhile another asks, and
// tries again as connection managers do.
TEST_F(GeneralServices, AFloodKeepsNobodyElseFromBeingHeard) {
  Child server(listener(0, kService, 1));
  (void)server.wire().receive<char>();
  Child flooder([&](Wire& wire) {
    const RawPeer unused(loopback_address(2), link_->address(0));
    RawPeer peer(loopback_address(3), link_->address(0));
    const Bytes bytes = peer.bytes_of(packet_to_queue_pair_1(), request_for(kOther));
    wire.meet();
    while (true) peer.send(bytes);  // until all have been heard
  });
  flooder.wire().meet();
  Child client(at(1, [&](Wire&, GsiEnd& end) {
    usleep(300'000);  // the flood is on
    for (std::uint32_t i = 1; i <= 10; ++i) {
      bool answered = false;
      for (int tries = 0; tries < 80 && !answered; ++tries) {
        require(end.send(gid(0), request_mad(end.id(i), kService, i)) == 0, "a request leaves");
        while (const auto answer = end.receive(500)) {
          answered = remote_id_of(*answer) == end.id(i);
          if (answered) break;
        }
      }
      require(answered, "a request is heard");
    }
  }));
  client.finish();
  flooder.kill();
  EXPECT_GT(link_->counted(0, "mad_received"), 1000u);
  EXPECT_GT(link_->counted(0, "dropped_by_filter"), 0u);
  server.kill();
}
// From a plain socket, as another host or another account of this one: all but the last are wrong
// in one thing.
TEST_F(GeneralServices, WrongPacketsAreCountedAndARightOneIsTaken) {
  Child server(at(0, [](Wire& wire, GsiEnd& end) {
    require(end.listen(kService) == 0, "it listens");
    wire.meet();
    const gdr_gsi_mad mad = need(end, "the right one comes");
    require(mark_of(mad) == 99, "and no wrong one");
    wire.meet();
  }));
  server.wire().meet();
  RawPeer peer(link_->address(1), link_->address(0));
  wire::Packet right = packet_to_queue_pair_1();
  right.ack_request = false;
  const auto send = [&](auto change, std::size_t bytes = GDR_GSI_MAD_BYTES) {
    wire::Packet packet = right;
    Bytes payload = request_for(kService, 1);
    payload.resize(bytes);
    change(packet, payload);
    peer.send(peer.bytes_of(packet, payload));
  };
  send([](auto& packet, auto&) { packet.deth.qkey = 0x11111; });
  send([](auto& packet, auto&) { packet.deth.source_qp = 2; });
  send([](auto&, auto&) {}, 252);
  send([](auto&, auto&) {}, 260);
  send([](auto&, auto&) {}, 0);
  send([](auto& packet, auto&) { packet.partition_key = 0x1234; });
  send([](auto& packet, auto&) {
    packet.opcode = wire::make_opcode(wire::Transport::kUnreliableDatagram,
                                      wire::Operation::kSendOnlyImmediate);
    packet.info = wire::find_opcode(packet.opcode);
  });
  send([](auto& packet, auto&) {
    packet.opcode =
        wire::make_opcode(wire::Transport::kReliableConnection, wire::Operation::kSendOnly);
    packet.info = wire::find_opcode(packet.opcode);
  });
  // Their form is right, and they are for nobody: other classes, versions, methods, attributes; an
  // answer to no process, and to one that asked nothing.
  for (const std::size_t at : {0, 1, 2, 3, 17}) {
    send([at](auto&, auto& payload) { payload[at] ^= std::byte{0x40}; });
  }
  send([](auto&, auto& payload) {
    const gdr_gsi_mad reply = reply_mad(1, 0);
    std::memcpy(payload.data(), reply.bytes, payload.size());
  });
  send([](auto&, auto& payload) {
    const gdr_gsi_mad reply = reply_mad(1, 0x3ff'00000);
    std::memcpy(payload.data(), reply.bytes, payload.size());
  });
  Bytes damaged = peer.bytes_of(right, request_for(kService, 1));
  damaged[100] ^= std::byte{1};
  peer.send(damaged);
  peer.send(peer.bytes_of(right, request_for(kService, 99)));
  // An answer to a process that was not met is for nobody once everyone has been.
  EXPECT_TRUE(soon([&] { return link_->counted(0, "mad_for_nobody") >= 7; }));
  server.wire().meet();
  server.finish();
  EXPECT_EQ(link_->counted(0, "malformed"), 5u);
  EXPECT_EQ(link_->counted(0, "wrong_partition_key"), 1u);
  EXPECT_EQ(link_->counted(0, "wrong_transport"), 2u);
  EXPECT_EQ(link_->counted(0, "wrong_icrc"), 1u);
  EXPECT_EQ(link_->counted(0, "mad_for_nobody"), 7u);
}

// A process of this account has that address: nobody else speaks for it.
TEST_F(GeneralServices, NobodyElseSpeaksForAnAddressOfThisAccountsProcesses) {
  Child victim(at(1, [](Wire& wire, GsiEnd&) { wire.meet(), wire.meet(); }));
  victim.wire().meet();
  Child server(at(0, [](Wire& wire, GsiEnd& end) {
    require(end.listen(kService) == 0, "it listens");
    wire.meet();
    wire.meet();
    require(!end.receive(kQuiet), "a forged request is not taken");
  }));
  server.wire().meet();
  // Shares the port with the victim.
  RawPeer forger(link_->address(1), link_->address(0));
  forger.send(forger.bytes_of(packet_to_queue_pair_1(), request_for(kService)));
  server.wire().meet();
  server.finish();
  victim.wire().meet();
  victim.finish();
  EXPECT_EQ(link_->counted(0, "wrong_source_port"), 1u);
}

}  // namespace
}  // namespace gdr::test
