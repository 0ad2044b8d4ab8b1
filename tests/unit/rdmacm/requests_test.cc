// What arrives for a listener: requests of the right form and of every wrong one, repeated ones,
// and more than anybody takes.
#include <unistd.h>

#include <cstdio>
#include <random>

#include "wire_fixture.h"

namespace gdr::test {
namespace {

// The address sanitizer keeps what is freed for a while, the thread sanitizer keeps who used it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kKeptFreed = 512 << 20;
#else
constexpr std::size_t kKeptFreed = 0;
#endif

std::size_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  unsigned long all = 0, resident = 0;
  if (file == nullptr || std::fscanf(file, "%lu %lu", &all, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class Requests : public WireTest {};

TEST_F(Requests, AreToldToTheirListenerWithAllTheirPrivateData) {
  rdma_cm_id* listener = listen();
  gsi_.deliver(request_to(service_of(listener)), peer_address(1));
  const auto told = next();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->type, RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(told->private_bytes, 56u);
  EXPECT_FALSE(next());
  rdma_destroy_id(told->id);
}

TEST_F(Requests, ForAPortThatNobodyListensOnAreRejectedForThat) {
  rdma_cm_id* listener = listen();
  gsi_.deliver(request_to(service_of(listener) + 1), peer_address(1));
  const auto rej = sent(cm::Kind::kRej);
  ASSERT_EQ(rej.size(), 1u);
  EXPECT_EQ(rej[0].message.reason, cm::kRejectInvalidServiceId);
  EXPECT_EQ(rej[0].message.remote_id, kPeersId);
  EXPECT_EQ(rej[0].to, peer_address(1));
  gsi_.deliver(request_to(service_of(listener) + 1, kPeersId, cm::Kind::kSidrReq), peer_address(1));
  const auto sidr = sent(cm::Kind::kSidrRep);
  ASSERT_EQ(sidr.size(), 1u);
  EXPECT_EQ(sidr[0].message.status, cm::kSidrUnsupported);
  EXPECT_FALSE(next());
}

// A program that listens, takes a connection, and listens anew: whose client is quicker is not
// refused, but has to ask again.
TEST_F(Requests, ForAPortThatWasListenedOnAMomentAgoWaitForTheNextListener) {
  rdma_cm_id* listener = listen();
  const std::uint64_t service = service_of(listener);
  destroy(listener);
  gsi_.deliver(request_to(service), peer_address(1));
  EXPECT_TRUE(gsi_.take_sent().empty());
  rdma_cm_id* next_one = make_id();
  sockaddr_in own = address("127.10.0.1", cm::port_of(service));
  ASSERT_EQ(rdma_bind_addr(next_one, reinterpret_cast<sockaddr*>(&own)), 0);
  ASSERT_EQ(rdma_listen(next_one, 1), 0);
  gsi_.deliver(request_to(service), peer_address(1));
  const auto told = next();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->type, RDMA_CM_EVENT_CONNECT_REQUEST);
  rdma_destroy_id(told->id);
  destroy(next_one);
  usleep(2'100'000);
  (void)gsi_.take_sent();
  gsi_.deliver(request_to(service, kPeersId + 1), peer_address(1));
  EXPECT_EQ(sent(cm::Kind::kRej).size(), 1u) << "but not for ever";
}

// As the kernel: what its rdma_cm does not take, its ib_cm rejects as the consumer's decision.
TEST_F(Requests, WithAWrongHeaderOrOfAnotherTypeAreRejectedAndCounted) {
  rdma_cm_id* listener = listen();
  const auto change = [&](auto how) {
    cm::Message request = request_to(service_of(listener));
    how(request);
    gsi_.deliver(request, peer_address(1));
  };
  change([](cm::Message& m) { m.private_data[0] = 1; });     // of another version
  change([](cm::Message& m) { m.private_data[1] = 0x50; });  // no IP
  change([](cm::Message& m) { m.private_data.fill(0xff); });
  change([](cm::Message& m) { m.offer.transport = 1; });  // UC
  change([](cm::Message& m) { m.offer.transport = 2; });  // nothing
  change([](cm::Message& m) { m.offer.transport = 3, m.offer.extended_transport = 1; });
  const auto rejections = sent(cm::Kind::kRej);
  ASSERT_EQ(rejections.size(), 6u);
  for (const Sent& one : rejections) {
    EXPECT_EQ(one.message.reason, cm::kRejectConsumerDefined);
    EXPECT_EQ(one.message.remote_id, kPeersId);
  }
  change([](cm::Message& m) { m.kind = cm::Kind::kSidrReq; });
  const auto sidr = sent(cm::Kind::kSidrRep);
  ASSERT_EQ(sidr.size(), 1u);
  EXPECT_EQ(sidr[0].message.status, cm::kSidrRejected);
  EXPECT_EQ(gsi_.counted(GDR_GSI_INVALID_REQUEST), 7u);
  EXPECT_FALSE(next());
  // The same of a datagram's listener.
  rdma_cm_id* datagrams = listen(0, RDMA_PS_UDP);
  gsi_.deliver(request_to(service_of(datagrams)), peer_address(1));
  EXPECT_EQ(sent(cm::Kind::kRej).size(), 1u);
  EXPECT_FALSE(next());
}

TEST_F(Requests, ThatAreRepeatedAreToldOnceAndAskedForPatience) {
  rdma_cm_id* listener = listen();
  for (int i = 0; i < 100; ++i) {
    gsi_.deliver(request_to(service_of(listener)), peer_address(1));
  }
  EXPECT_EQ(sent(cm::Kind::kMra).size(), 99u);
  const auto told = next();
  ASSERT_TRUE(told);
  EXPECT_FALSE(next());
  // The same number from another peer is another request.
  gsi_.deliver(request_to(service_of(listener)), peer_address(2));
  const auto other = next();
  ASSERT_TRUE(other);
  EXPECT_NE(other->id, told->id);
  rdma_destroy_id(told->id);
  rdma_destroy_id(other->id);
}

TEST_F(Requests, BeyondTheBacklogAreDroppedInSilenceUntilThereIsRoom) {
  rdma_cm_id* listener = listen(3);
  const std::uint64_t service = service_of(listener);
  const auto ask = [&](std::uint32_t id) {
    gsi_.deliver(request_to(service, kPeersId + id), peer_address(1));
  };
  for (std::uint32_t id = 0; id < 5; ++id) ask(id);
  EXPECT_EQ(gsi_.counted(GDR_GSI_BACKLOG_FULL), 2u);
  EXPECT_TRUE(gsi_.take_sent().empty()) << "no rejection: they are to come again";
  const auto first = next();
  ASSERT_TRUE(first);
  ask(3), ask(4);
  EXPECT_EQ(gsi_.counted(GDR_GSI_BACKLOG_FULL), 3u);
  int more = 0;
  while (const auto told = next()) {
    ++more;
    rdma_destroy_id(told->id);
  }
  EXPECT_EQ(more, 3);
  rdma_destroy_id(first->id);
}

// A listener whose program takes nothing, and ten thousand who ask: from as many addresses.
TEST_F(Requests, OfTenThousandForgedPeersOnlyTheBacklogIsKept) {
  rdma_cm_id* listener = listen();
  const std::uint64_t service = service_of(listener);
  const std::size_t before = resident_bytes();
  for (std::uint32_t peer = 0; peer < 10'000; ++peer) {
    gsi_.deliver(request_to(service, kPeersId + peer), peer_address(peer));
  }
  EXPECT_EQ(gsi_.counted(GDR_GSI_BACKLOG_FULL), 10'000u - 1024);
  EXPECT_LT(resident_bytes(), before + (32u << 20) + kKeptFreed);
  // The first that the program takes leaves its place to one more.
  const auto told = next();
  ASSERT_TRUE(told);
  gsi_.deliver(request_to(service, kPeersId - 1), peer_address(20'000));
  EXPECT_EQ(gsi_.counted(GDR_GSI_BACKLOG_FULL), 10'000u - 1024);
  rdma_destroy_id(told->id);
  // What was not taken goes with its listener: each is rejected.
  gsi_.take_sent();
  destroy(listener);
  EXPECT_EQ(sent(cm::Kind::kRej).size(), 1024u);
  EXPECT_FALSE(next());
}

TEST_F(Requests, OfOnePeerLeaveHalfOfTheBacklogToOthers) {
  rdma_cm_id* listener = listen();
  const std::uint64_t service = service_of(listener);
  for (std::uint32_t id = 0; id < 10'000; ++id) {
    gsi_.deliver(request_to(service, kPeersId + id), peer_address(1));
  }
  EXPECT_EQ(gsi_.counted(GDR_GSI_BACKLOG_FULL), 10'000u - 512);
  gsi_.deliver(request_to(service), peer_address(2));
  EXPECT_EQ(gsi_.counted(GDR_GSI_BACKLOG_FULL), 10'000u - 512) << "the other is let in";
}

TEST_F(Requests, OfManyPeersThatFloodLeaveRoomToOthers) {
  constexpr std::uint32_t kFlooding = 20;
  rdma_cm_id* listener = listen();
  const std::uint64_t service = service_of(listener);
  rdma_conn_param param{};
  param.qp_num = 5;
  std::vector<rdma_cm_id*> accepted;
  std::uint32_t id = 0;
  // The program accepts what it takes; nobody confirms.
  for (int round = 0; round < 650; ++round) {
    for (std::uint32_t peer = 0; peer < kFlooding; ++peer) {
      gsi_.deliver(request_to(service, kPeersId + ++id), peer_address(peer));
    }
    for (std::uint32_t i = 0; i < kFlooding; ++i) {
      const auto told = next();
      if (!told) break;
      ASSERT_EQ(rdma_accept(told->id, &param), 0);
      accepted.push_back(told->id);
    }
    (void)gsi_.take_sent();
  }
  EXPECT_LT(accepted.size(), 12'288u) << "of 16,382 queue pairs that a process may have";
  rdma_cm_id* others = requested(listener, 30'000);
  ASSERT_NE(others, nullptr);
  EXPECT_EQ(rdma_accept(others, &param), 0);
  // Nor do they fill the backlog of a program that takes nothing.
  for (rdma_cm_id* one : accepted) rdma_destroy_id(one);
  for (std::uint32_t i = 0; i < 60 * kFlooding; ++i) {
    gsi_.deliver(request_to(service, kPeersId + ++id), peer_address(100 + i % kFlooding));
  }
  const std::uint32_t refused = gsi_.counted(GDR_GSI_BACKLOG_FULL);
  for (std::uint32_t i = 0; i < 10; ++i) {
    gsi_.deliver(request_to(service, kPeersId + ++id), peer_address(40'000));
  }
  EXPECT_EQ(gsi_.counted(GDR_GSI_BACKLOG_FULL), refused);
}

// The program takes the requests one by one, and is slow.
TEST_F(Requests, OfOnePeerDelayAnothersByOneOfTheirsEach) {
  rdma_cm_id* listener = listen();
  const std::uint64_t service = service_of(listener);
  const auto ask = [&](std::uint32_t peer, std::uint32_t id) {
    gsi_.deliver(request_to(service, kPeersId + id), peer_address(peer));
  };
  const auto peer_of_next = [&]() -> cm::Gid {
    const auto told = next();
    EXPECT_TRUE(told && told->type == RDMA_CM_EVENT_CONNECT_REQUEST);
    cm::Gid gid{};
    if (!told) return gid;
    std::copy_n(told->id->route.addr.addr.ibaddr.dgid.raw, gid.size(), gid.begin());
    rdma_destroy_id(told->id);
    return gid;
  };
  for (std::uint32_t id = 0; id < 400; ++id) ask(1, id);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer_of_next(), peer_address(1));
  for (std::uint32_t id = 0; id < 10; ++id) ask(2, id);
  int others = 0;
  for (int taken = 0; others < 10 && taken < 20; ++taken) {
    if (peer_of_next() == peer_address(2)) ++others;
  }
  EXPECT_EQ(others, 10) << "behind ten of the four hundred, and not behind all";
  // Who floods is not kept out either: it goes on while others ask again and again.
  for (std::uint32_t id = 100; id < 110; ++id) {
    ask(2, id);
    ask(2, id + 100);
    const cm::Gid one = peer_of_next(), two = peer_of_next();
    EXPECT_TRUE(one == peer_address(1) || two == peer_address(1));
  }
}

// What a connection that is being made brings waits for no more than its own peer's requests.
TEST_F(Requests, OfOnePeerDelayAnothersConnectionByOneOfTheirs) {
  rdma_cm_id* listener = listen();
  rdma_conn_param param{};
  rdma_cm_id* accepted = requested(listener, 2);
  ASSERT_EQ(rdma_accept(accepted, &param), 0);
  const auto rep = sent(cm::Kind::kRep);
  ASSERT_EQ(rep.size(), 1u);
  for (std::uint32_t id = 0; id < 400; ++id) {
    gsi_.deliver(request_to(service_of(listener), kPeersId + 10 + id), peer_address(1));
  }
  gsi_.deliver(
      {.kind = cm::Kind::kRtu, .local_id = kPeersId + 2, .remote_id = rep[0].message.local_id},
      peer_address(2));
  const auto first = next();
  ASSERT_TRUE(first && first->type == RDMA_CM_EVENT_CONNECT_REQUEST);
  rdma_destroy_id(first->id);
  const auto second = next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->type, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(second->id, accepted);
}

// Ten thousand that the program accepts and nobody confirms.
TEST_F(Requests, OfTenThousandAcceptedOnesNoneKeepsOutTheNext) {
  rdma_cm_id* listener = listen();
  const std::uint64_t service = service_of(listener);
  rdma_conn_param param{};
  param.qp_num = 5;
  std::vector<rdma_cm_id*> accepted;
  const std::size_t before = resident_bytes();
  for (std::uint32_t peer = 0; peer < 10'000; ++peer) {
    gsi_.deliver(request_to(service, kPeersId + peer), peer_address(peer));
    const auto told = next();
    ASSERT_TRUE(told && told->type == RDMA_CM_EVENT_CONNECT_REQUEST) << peer;
    ASSERT_EQ(rdma_accept(told->id, &param), 0);
    accepted.push_back(told->id);
    (void)gsi_.take_sent();
  }
  EXPECT_LT(resident_bytes(), before + (96u << 20) + kKeptFreed);
  EXPECT_EQ(gsi_.counted(GDR_GSI_BACKLOG_FULL), 0u);
  rdma_cm_id* last = requested(listener, 30'000);
  EXPECT_EQ(rdma_accept(last, &param), 0);
  // Replies that nobody confirms come again meanwhile.
  const auto replies = sent(cm::Kind::kRep);
  EXPECT_EQ(
      std::ranges::count_if(
          replies, [](const Sent& one) { return one.message.remote_id == kPeersId + 30'000; }),
      1);
  for (rdma_cm_id* id : accepted) rdma_destroy_id(id);
}

// One peer, whose requests the program accepts and who confirms none: it does not get all of the
// queue pairs that a process may have. What it confirms no longer counts.
TEST_F(Requests, OfOnePeerThatConfirmsNoneAreNoLongerTakenAfterSomeThousand) {
  constexpr std::uint32_t kMost = 4096;
  rdma_cm_id* listener = listen();
  rdma_conn_param param{};
  param.qp_num = 5;
  std::vector<rdma_cm_id*> accepted;
  std::uint32_t confirmed = 0;
  const auto ask = [&](std::uint32_t peer, std::uint32_t id) {
    gsi_.deliver(request_to(service_of(listener), kPeersId + id), peer_address(peer));
    const auto told = next();
    if (!told) return false;
    EXPECT_EQ(rdma_accept(told->id, &param), 0);
    accepted.push_back(told->id);
    const auto replies = sent(cm::Kind::kRep);
    if (!replies.empty() && id == 0) confirmed = replies[0].message.local_id;
    return true;
  };
  for (std::uint32_t id = 0; id < kMost; ++id) ASSERT_TRUE(ask(1, id)) << id;
  EXPECT_FALSE(ask(1, kMost));
  EXPECT_EQ(gsi_.counted(GDR_GSI_BACKLOG_FULL), 1u);
  EXPECT_TRUE(ask(2, kMost)) << "another peer";
  gsi_.deliver({.kind = cm::Kind::kRtu, .local_id = kPeersId, .remote_id = confirmed},
               peer_address(1));
  EXPECT_EQ(next_type(), RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_TRUE(ask(1, kMost)) << "and this one again";
  EXPECT_FALSE(ask(1, kMost + 1));
  rdma_destroy_id(accepted.back());
  accepted.pop_back();
  EXPECT_TRUE(ask(1, kMost + 1)) << "also when the program lets go of one";
  for (rdma_cm_id* id : accepted) rdma_destroy_id(id);
}

// Who has asked takes its request back, or its process ends, before the program has decided.
TEST_F(Requests, ThatAreTakenBackCanNoLongerBeAccepted) {
  rdma_cm_id* listener = listen();
  rdma_conn_param param{};
  rdma_cm_id* rejected = requested(listener, 1);
  gsi_.deliver({.kind = cm::Kind::kRej, .local_id = kPeersId + 1, .remote_id = 0, .reason = 4},
               peer_address(1));
  (void)gsi_.take_sent();
  EXPECT_FALSE(next()) << "the program hears no more of what it has not accepted";
  // By the id that they have not been told, peers cannot name it: as the kernel's by theirs.
  rdma_cm_id* ended = requested(listener, 2);
  gsi_.end_process(peer_address(2), kPeersId);
  EXPECT_FALSE(next());
  EXPECT_EQ(rdma_accept(ended, &param), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_accept(rejected, &param), 0) << "a rejection without its id names nothing here";
}

TEST_F(Requests, OnlyMessagesForAConnectionWithThatPeerAreTaken) {
  rdma_cm_id* listener = listen();
  rdma_cm_id* id = requested(listener, 1);
  rdma_conn_param param{};
  ASSERT_EQ(rdma_accept(id, &param), 0);
  const auto rep = sent(cm::Kind::kRep);
  ASSERT_EQ(rep.size(), 1u);
  const std::uint32_t own = rep[0].message.local_id;
  EXPECT_EQ(own & ~0xfffffu, kOwnPrefix);
  // For ids that there are none of, and from others than its peer.
  for (const cm::Kind kind : {cm::Kind::kRep, cm::Kind::kRtu, cm::Kind::kRej, cm::Kind::kDrep,
                              cm::Kind::kMra, cm::Kind::kSidrRep}) {
    gsi_.deliver({.kind = kind, .local_id = kPeersId + 1, .remote_id = own ^ 1}, peer_address(1));
    gsi_.deliver({.kind = kind, .local_id = kPeersId + 1, .remote_id = own}, peer_address(2));
  }
  EXPECT_EQ(gsi_.counted(GDR_GSI_UNEXPECTED), 12u);
  EXPECT_TRUE(gsi_.take_sent().empty());
  EXPECT_FALSE(next());
  // Whoever wants to be disconnected from what there is not gets that.
  gsi_.deliver({.kind = cm::Kind::kDreq, .local_id = 9, .remote_id = own ^ 1}, peer_address(1));
  const auto drep = sent(cm::Kind::kDrep);
  ASSERT_EQ(drep.size(), 1u);
  EXPECT_EQ(drep[0].message.local_id, own ^ 1);
  EXPECT_EQ(drep[0].message.remote_id, 9u);
  gsi_.deliver({.kind = cm::Kind::kRtu, .local_id = kPeersId + 1, .remote_id = own},
               peer_address(1));
  EXPECT_EQ(next_type(), RDMA_CM_EVENT_ESTABLISHED);
}

// Bytes of every kind, half of them like messages to what is there.
TEST_F(Requests, OfAnyBytesHarmNothing) {
  rdma_cm_id* listener = listen(8);
  rdma_cm_id* active = routed();
  rdma_conn_param param{};
  param.qp_num = 5;
  ASSERT_EQ(rdma_connect(active, &param), 0);
  const std::uint32_t own = sent(cm::Kind::kReq).at(0).message.local_id;
  std::mt19937 random(20261125);
  const auto byte = [&] { return static_cast<std::uint8_t>(random()); };
  for (int i = 0; i < 50'000; ++i) {
    cm::Mad mad;
    for (std::uint8_t& one : mad) one = byte();
    const std::uint8_t how = byte();
    if ((how & 1) != 0) {
      mad[0] = 1, mad[1] = 7, mad[2] = 2, mad[3] = 3, mad[16] = 0;
      mad[17] = static_cast<std::uint8_t>(0x10 + byte() % 12);
    }
    if ((how & 2) != 0) {
      for (int b = 0; b < 4; ++b) mad[28 + b] = static_cast<std::uint8_t>(own >> (24 - 8 * b));
    }
    if ((how & 4) != 0) {
      const std::uint64_t service = service_of(listener);
      for (int b = 0; b < 8; ++b) mad[32 + b] = static_cast<std::uint8_t>(service >> (56 - 8 * b));
    }
    gsi_.deliver(mad, (how & 8) != 0 ? own_address() : peer_address(byte()));
    if (i % 64 == 0) {
      while (const auto told = next()) {
        if (told->type == RDMA_CM_EVENT_CONNECT_REQUEST) rdma_destroy_id(told->id);
      }
    }
    if (i % 1024 == 0) (void)gsi_.take_sent();
  }
  // And it still takes a right one.
  while (const auto told = next()) {
    if (told->type == RDMA_CM_EVENT_CONNECT_REQUEST) rdma_destroy_id(told->id);
  }
  EXPECT_NE(requested(listener, 40'000), nullptr);
}

TEST_F(Requests, GoToTheListenerOfTheirAddressFamily) {
  rdma_cm_id* any = make_id();
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  ASSERT_EQ(rdma_bind_addr(any, reinterpret_cast<sockaddr*>(&six)), 0) << std::strerror(errno);
  int only = 1;
  ASSERT_EQ(rdma_set_option(any, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof only), 0);
  rdma_cm_id* four = make_id();
  sockaddr_in own = address("127.10.0.1", ntohs(rdma_get_src_port(any)));
  ASSERT_EQ(rdma_bind_addr(four, reinterpret_cast<sockaddr*>(&own)), 0) << std::strerror(errno);
  ASSERT_EQ(rdma_listen(four, 0), 0);
  EXPECT_TRUE(gsi_.listens_for(service_of(four)));
  gsi_.deliver(request_to(service_of(four)), peer_address(1));
  rdma_cm_event* event = nullptr;
  ASSERT_EQ(rdma_get_cm_event(channel_, &event), 0);
  EXPECT_EQ(event->listen_id, four);
  rdma_cm_id* id = event->id;
  rdma_ack_cm_event(event);
  rdma_destroy_id(id);
  destroy(four);
  EXPECT_FALSE(gsi_.listens_for(service_of(any)));
}

}  // namespace
}  // namespace gdr::test
