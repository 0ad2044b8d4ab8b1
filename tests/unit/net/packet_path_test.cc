// The path on real sockets, from outside: what strangers send, and what may not hold up arrivals.
#include "net/packet_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "is_readable.h"
#include "net/private_socket.h"
#include "packet_host.h"
#include "packets.h"
#include "soon.h"

namespace gdr::net {
namespace {

using test::is_readable;
using test::PacketHost;

constexpr std::uint32_t kPeerNumber = 0x300'001;

template <typename Claim>
bool soon(PacketHost& host, Claim claim) {
  const auto polls = [&] { return claim() || (host.path().progress(), false); };
  return test::soon(polls);
}

// One for all tests: its thread never ends. Its peers' addresses are given out one by one.
class PacketPathTest : public testing::Test {
 protected:
  static PacketHost& host() {
    static PacketHost* const host = [] {
      const std::string address = to_string(address_of_this_test(3));
      return new PacketHost(("soft0/ip=" + address).c_str());
    }();
    return *host;
  }

  const wire::Address here_ = address_of_this_test(3), there_ = address_of_this_test(0);

  // A write of 8 bytes to the host's memory at that offset.
  Bytes write_packet(const wire::Flow& flow, std::uint32_t number, std::uint32_t psn,
                     std::uint64_t offset, std::byte value) {
    return make_write(flow, number, psn, host().address() + offset, host().key(), value);
  }

  static void send(int socket, const wire::Address& to, std::uint16_t port, const Bytes& bytes) {
    SocketAddress address = socket_address(to, port);
    ASSERT_EQ(sendto(socket, bytes.data(), bytes.size(), 0, address.get(), address.length),
              static_cast<ssize_t>(bytes.size()));
  }
};

TEST_F(PacketPathTest, APrivatePortCanBeBoundByNobodyElse) {
  auto socket = PrivateSocket::open(here_, 0, 0x1234'5678'9abc'0000);
  ASSERT_TRUE(socket) << socket.error().message;
  for (const wire::Address& address : {here_, there_, ipv4(0, 0, 0, 0)}) {
    const UniqueFd other(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    for (const int option : {SO_REUSEADDR, SO_REUSEPORT}) {
      const int on = 1;
      ASSERT_EQ(setsockopt(other.get(), SOL_SOCKET, option, &on, sizeof on), 0);
    }
    const SocketAddress wanted = socket_address(address, socket->port());
    EXPECT_NE(bind(other.get(), wanted.get(), wanted.length), 0) << to_string(address);
    EXPECT_EQ(errno, EADDRINUSE);
  }
}

// A receiver without the filter, or a stranger that knows the name, still leaves nothing behind.
TEST_F(PacketPathTest, WhateverComesToThePrivateSocketIsTakenOff) {
  auto qp = host().queue_pair(IBV_QPT_RC);
  host().connect(*qp, there_, kPeerNumber);
  const std::vector<int> found = PacketHost::sockets(0);
  ASSERT_EQ(found.size(), 1u);
  const int private_socket = found[0];
  SocketAddress own;
  own.length = sizeof own.storage;
  ASSERT_EQ(getsockname(private_socket, own.get(), &own.length), 0);
  const std::uint16_t port = port_of(*own.get());
  const UniqueFd stranger(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));

  send(stranger.get(), here_, port, Bytes(1));
  send(stranger.get(), here_, port, {});
  send(stranger.get(), here_, port, Bytes(2000));
  EXPECT_FALSE(is_readable(private_socket)) << "the kernel drops what has not the name";

  const std::uint64_t name =
      host().adapter().segment().header().ports[0][rnic::kOwnAddress].name.load();
  Bytes named(sizeof name);
  std::memcpy(named.data(), &name, sizeof name);
  send(stranger.get(), here_, port, named);  // shorter than a stray
  named.resize(200);
  send(stranger.get(), here_, port, named);  // packets of no length
  EXPECT_TRUE(soon(host(), [&] { return !is_readable(private_socket); }));

  int off = 0;
  ASSERT_EQ(setsockopt(private_socket, SOL_SOCKET, SO_DETACH_FILTER, &off, sizeof off), 0);
  send(stranger.get(), here_, port, Bytes(1));
  send(stranger.get(), here_, port, {});
  EXPECT_TRUE(soon(host(), [&] { return !is_readable(private_socket); }));
  host().adapter().destroy_queue_pair(*qp);
}

TEST_F(PacketPathTest, ABindThatHasToWaitForACopyHoldsUpNoArrivals) {
  constexpr rnic::Token kInitiator = rnic::make_token(5, 5);
  struct Nobody : rnic::Liveness {
    bool alive(rnic::Token) override { return true; }
  } liveness;
  auto binder = host().queue_pair(IBV_QPT_RC), target = host().queue_pair(IBV_QPT_RC);
  auto copying = host().queue_pair(IBV_QPT_RC);
  for (const auto& qp : {binder, target, copying}) host().connect(*qp, there_, kPeerNumber);
  // A process of this host copies, and does not get on.
  rnic::lock(copying->shared().responder, kInitiator, liveness, rnic::HeldFor::kCopies, kInitiator);

  const auto window = host().adapter().create_window(true, host().domain());
  ASSERT_TRUE(window) << window.error().message;
  ibv_mr region{};
  region.lkey = region.rkey = host().key();
  ibv_mw mw{};
  mw.handle = mw.rkey = *window;
  mw.type = IBV_MW_TYPE_2;
  ibv_send_wr request{}, *bad = nullptr;
  request.opcode = IBV_WR_BIND_MW;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr_id = 42;
  request.bind_mw = {
      &mw, ibv_inc_rkey(mw.rkey), {&region, host().address(), 4096, IBV_ACCESS_REMOTE_WRITE}};
  ASSERT_EQ(binder->post_send(&request, const_cast<const ibv_send_wr**>(&bad)), 0);
  EXPECT_TRUE(host().completions().empty());

  // Arrivals for others, and for the queue pair that binds, are taken meanwhile.
  const UniqueFd peer(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress own = socket_address(there_, wire::kRocePort);
  ASSERT_EQ(bind(peer.get(), own.get(), own.length), 0);
  const wire::Flow flow = flow_between(there_, here_);
  send(peer.get(), here_, wire::kRocePort,
       write_packet(flow, binder->number(), 0, 64, std::byte{7}));
  send(peer.get(), here_, wire::kRocePort,
       write_packet(flow, target->number(), 0, 72, std::byte{8}));
  EXPECT_TRUE(soon(host(), [&] { return host().byte_at(72) == std::byte{8}; }));
  EXPECT_EQ(host().byte_at(64), std::byte{7});
  EXPECT_TRUE(host().completions().empty());

  rnic::unlock(copying->shared().responder);
  std::vector<rnic::SharedCompletion> done;
  EXPECT_TRUE(soon(host(), [&] { return done = host().completions(), !done.empty(); }));
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 42u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  for (const auto& qp : {binder, target, copying}) host().adapter().destroy_queue_pair(*qp);
}

// Within the host a copy of datagrams may be stopped while it holds their queue pair.
TEST_F(PacketPathTest, AQueuePairThatAnotherProcessHoldsHoldsUpNoArrivals) {
  constexpr rnic::Token kInitiator = rnic::make_token(5, 5);
  struct Nobody : rnic::Liveness {
    bool alive(rnic::Token) override { return true; }
  } liveness;
  auto held = host().queue_pair(IBV_QPT_RC), target = host().queue_pair(IBV_QPT_RC);
  for (const auto& qp : {held, target}) host().connect(*qp, there_, kPeerNumber);
  rnic::lock(held->shared().responder, kInitiator, liveness, rnic::HeldFor::kCopies, kInitiator);
  const UniqueFd peer(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress own = socket_address(there_, wire::kRocePort);
  ASSERT_EQ(bind(peer.get(), own.get(), own.length), 0);
  const wire::Flow flow = flow_between(there_, here_);
  for (int i = 0; i < 20; ++i) {
    send(peer.get(), here_, wire::kRocePort,
         write_packet(flow, held->number(), 0, 80, std::byte{1}));
  }
  send(peer.get(), here_, wire::kRocePort,
       write_packet(flow, target->number(), 0, 88, std::byte{9}));
  EXPECT_TRUE(soon(host(), [&] { return host().byte_at(88) == std::byte{9}; }));
  EXPECT_EQ(host().byte_at(80), std::byte{0});
  rnic::unlock(held->shared().responder);
  // What was dropped comes again, as after any loss.
  send(peer.get(), here_, wire::kRocePort, write_packet(flow, held->number(), 0, 80, std::byte{1}));
  EXPECT_TRUE(soon(host(), [&] {
    send(peer.get(), here_, wire::kRocePort,
         write_packet(flow, held->number(), 0, 80, std::byte{1}));
    return host().byte_at(80) == std::byte{1};
  }));
  for (const auto& qp : {held, target}) host().adapter().destroy_queue_pair(*qp);
}

TEST_F(PacketPathTest, AFloodIsDroppedByTheKernelAndConnectionsGoOn) {
  auto qp = host().queue_pair(IBV_QPT_RC);
  host().connect(*qp, there_, kPeerNumber);
  const UniqueFd peer(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress own = socket_address(there_, wire::kRocePort);
  ASSERT_EQ(bind(peer.get(), own.get(), own.length), 0);
  const wire::Flow flow = flow_between(there_, here_);
  Counters& counters = Counters::of_process();
  const std::uint64_t before = counters.value(Counter::kDroppedByFilter);
  const UniqueFd stranger(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto flood = [&] {
    for (std::uint32_t i = 0; i < 50; ++i) {
      send(stranger.get(), here_, wire::kRocePort, Bytes(100, std::byte{0xee}));
      // Right in its form, but not for a queue pair that is there; and not from its peer.
      send(stranger.get(), here_, wire::kRocePort,
           write_packet(flow, qp->number() + 1 + i, 0, 96, std::byte{1}));
      send(stranger.get(), here_, wire::kRocePort,
           write_packet(flow, qp->number(), 0, 96, std::byte{1}));
    }
    return counters.value(Counter::kDroppedByFilter) >= before + 1000;
  };
  EXPECT_TRUE(soon(host(), flood));
  EXPECT_EQ(host().byte_at(96), std::byte{0});
  // The gate is shut; the peer's packets pass it, and a new connection's.
  send(peer.get(), here_, wire::kRocePort, write_packet(flow, qp->number(), 0, 96, std::byte{2}));
  EXPECT_TRUE(soon(host(), [&] { return host().byte_at(96) == std::byte{2}; }));
  auto late = host().queue_pair(IBV_QPT_RC);
  host().connect(*late, there_, kPeerNumber + 1);
  send(peer.get(), here_, wire::kRocePort,
       write_packet(flow, late->number(), 0, 104, std::byte{3}));
  EXPECT_TRUE(soon(host(), [&] { return host().byte_at(104) == std::byte{3}; }));
  // The flood ends, and strangers are counted by cause again.
  const std::uint64_t malformed = counters.value(Counter::kMalformed);
  EXPECT_TRUE(soon(host(), [&] {
    send(stranger.get(), here_, wire::kRocePort, Bytes(1));
    usleep(20'000);
    host().path().progress();
    return counters.value(Counter::kMalformed) > malformed;
  }));
  for (const auto& each : {qp, late}) host().adapter().destroy_queue_pair(*each);
}

// Looking at sockets takes time, in which a neighbour on this host may have completed a request.
TEST_F(PacketPathTest, APollLooksAtItsQueueAgainThoughNoPacketHasArrived) {
  auto qp = host().queue_pair(IBV_QPT_RC);
  host().connect(*qp, there_, kPeerNumber);  // opens the port
  while (host().path().serve().value_or(0) > 0) continue;
  EXPECT_TRUE(host().path().progress());
  host().adapter().destroy_queue_pair(*qp);
}

// It has a datagram queue pair alone: what a datagram makes it expect is over some time later, also
// where the program did not poll meanwhile.
TEST(PacketPathOfDatagrams, IsNotLookedAtByPollsLongAfterADatagram) {
  wire::Address here = address_of_this_test(2);
  here[13] ^= std::uint8_t{0x40};  // another than those of the other tests
  PacketHost& host = *new PacketHost(("soft0/ip=" + to_string(here)).c_str());
  auto qp = host.queue_pair(IBV_QPT_UD);
  host.connect(*qp, here, 0);
  usleep(200'000);
  EXPECT_FALSE(host.path().progress());
  Counters& counters = Counters::of_process();
  const std::uint64_t before = counters.value(Counter::kMalformed);
  const UniqueFd stranger(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SocketAddress to = socket_address(here, wire::kRocePort);
  ASSERT_EQ(sendto(stranger.get(), "?", 1, 0, to.get(), to.length), 1);
  ASSERT_TRUE(test::soon([&] { return counters.value(Counter::kMalformed) > before; }));
  ASSERT_EQ(counters.value(Counter::kMalformed), before + 1);
  usleep(2'000'000);
  EXPECT_FALSE(host.path().progress());
  host.adapter().destroy_queue_pair(*qp);
}

}  // namespace
}  // namespace gdr::net
