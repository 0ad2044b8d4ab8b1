// Queue pair 1 between processes: who gets which management datagram, what becomes of those that
// nobody is there for, and of a listener that dies.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "addresses.h"
#include "base/clock.h"
#include "gsi_processes.h"
#include "raw_peer.h"

namespace gdr::test {
namespace {

void ask(GsiEnd& end, const GidBytes& to, std::uint64_t service, std::uint32_t id,
         std::uint32_t mark, std::uint32_t answered_by) {
  require(end.send(to, request_mad(end.id(id), service, mark)) == 0, "a request leaves");
  const gdr_gsi_mad reply = need(end, "a reply comes");
  require(attribute_of(reply) == kRep && mark_of(reply) == mark, "it is the reply");
  require(remote_id_of(reply) == end.id(id), "to this request");
  require((local_id_of(reply) & 0xfffff) == answered_by, "by that listener");
  require(std::equal(to.begin(), to.end(), reply.source), "from there");
}

TEST_F(GeneralServices, AnswersFindTheProcessThatAskedWhicheverTheKernelGivesThemTo) {
  Child first(listener(1, kService, 0xaaaaa, 450)), second(listener(1, kOther, 0xbbbbb, 450));
  (void)first.wire().receive<char>();
  (void)second.wire().receive<char>();
  const auto asker = [&](std::uint32_t number) {
    return at(0, [this, number](Wire& wire, GsiEnd& end) {
      wire.meet();
      for (std::uint32_t i = 1; i <= 50; ++i) {
        ask(end, gid(1), kService, number * 100 + i, i, 0xaaaaa);
        ask(end, gid(1), kOther, number * 100 + i, i, 0xbbbbb);
      }
      wire.meet();
      wire.meet();  // with its end, what the kernel has given it for others is lost
    });
  };
  Child one(asker(1)), two(asker(2)), three(asker(3));
  for (int step = 0; step < 3; ++step) {
    for (Child* child : {&one, &two, &three}) child->wire().meet();
  }
  for (Child* child : {&one, &two, &three}) child->finish();
  EXPECT_GT(link_->counted(1, "forwarded"), 0u);
  EXPECT_EQ(link_->counted(0, "mad_for_nobody"), 0u);
  EXPECT_EQ(link_->counted(1, "mad_refused"), 0u);
  for (Child* child : {&first, &second}) child->kill();
}

// A process that the kernel gives others' datagrams to, and that has not met the one that they are
// for: that one does not answer, as one that gets no processor.
TEST_F(GeneralServices, WhoHasNotMetTheListenerYetDecidesNothingInItsStead) {
  constexpr std::uint32_t kClients = 8, kListener = 0xaaaaa;
  Child listens(listener(1, kService, kListener));
  (void)listens.wire().receive<char>();
  std::vector<std::unique_ptr<Child>> clients;
  for (std::uint32_t number = 1; number <= kClients; ++number) {
    clients.push_back(std::make_unique<Child>(at(0, [this, number](Wire& wire, GsiEnd& end) {
      require(end.send(gid(1), request_mad(end.id(1), kService, number)) == 0, "a request leaves");
      const std::uint32_t its_id = local_id_of(need(end, "the listener answers"));
      wire.meet();
      wire.meet();
      require(end.send(gid(1), request_mad(end.id(2), kService, number)) == 0, "a request leaves");
      gdr_gsi_mad goodbye = reply_mad(end.id(3), its_id, number);
      store_be16(&goodbye.bytes[kAttributeAt], kDreq);
      require(end.send(gid(1), goodbye) == 0, "a disconnect request leaves");
      require(!end.receive(100), "neither is answered by another");
      wire.meet();
      for (int i = 0; i < 2; ++i) {
        const gdr_gsi_mad answer = need(end, "both come to the listener");
        require(attribute_of(answer) == kRep && mark_of(answer) == number, "which answers them");
        require(local_id_of(answer) == its_id, "itself");
      }
      wire.meet();
      wire.meet();  // what came to it for another one is lost with its process
    })));
  }
  for (auto& client : clients) client->wire().meet();
  ::kill(listens.pid(), SIGSTOP);
  Child late(at(1, [](Wire& wire, GsiEnd&) { wire.meet(), wire.receive<char>(); }));
  late.wire().meet();
  for (auto& client : clients) client->wire().meet();
  for (auto& client : clients) client->wire().meet();
  ::kill(listens.pid(), SIGCONT);
  for (int step = 0; step < 2; ++step) {
    for (auto& client : clients) client->wire().meet();
  }
  for (auto& client : clients) client->finish();
  EXPECT_EQ(link_->counted(1, "mad_refused"), 0u);
  EXPECT_EQ(link_->counted(1, "mad_for_nobody"), 0u);
  late.kill();
  listens.kill();
}

TEST_F(GeneralServices, WorkBetweenNamespaces) {
  make({.kind = LinkKind::kVeth});
  if (IsSkipped()) return;
  Child server(listener(1, kService, 0xaaaaa));
  (void)server.wire().receive<char>();
  Child client(at(0, [&](Wire&, GsiEnd& end) {
    for (std::uint32_t i = 1; i <= 20; ++i) ask(end, gid(1), kService, i, i, 0xaaaaa);
  }));
  client.finish();
  server.kill();
}

TEST_F(GeneralServices, RequestsThatNobodyListensForAreRefusedOnce) {
  // Two that could answer.
  const auto idle = at(1, [](Wire& wire, GsiEnd&) { wire.meet(), wire.meet(); });
  Child one(idle), two(idle);
  one.wire().meet(), two.wire().meet();
  Child client(at(0, [&](Wire&, GsiEnd& end) {
    require(end.send(gid(1), request_mad(end.id(7), kService)) == 0, "a request leaves");
    const gdr_gsi_mad rej = need(end, "a refusal comes");
    require(attribute_of(rej) == kRej && remote_id_of(rej) == end.id(7), "of this request");
    require(load_be16(&rej.bytes[kRejReasonAt]) == 8, "for an invalid service id");
    require(load_be64(&rej.bytes[kTransactionAt]) == (0x1122'3344'0000'0000 | end.id(7)),
            "of this transaction");
    require(end.send(gid(1), request_mad(end.id(8), kService, 0, kSidrReq)) == 0, "another");
    const gdr_gsi_mad sidr = need(end, "a refusal comes");
    require(attribute_of(sidr) == kSidrRep && local_id_of(sidr) == end.id(8), "of this request");
    require(sidr.bytes[kSidrStatusAt] == 1, "as unsupported");
    require(!end.receive(kQuiet), "and none more");
  }));
  client.finish();
  one.wire().meet(), two.wire().meet();
  one.finish(), two.finish();
  EXPECT_EQ(link_->counted(1, "mad_refused"), 2u);
}

TEST_F(GeneralServices, AddressesOfThisHostWithoutAnyProcessRefuseAtOnce) {
  Child client(at(0, [&](Wire&, GsiEnd& end) {
    require(end.send(gid(1), request_mad(end.id(1), kService)) == ECONNREFUSED, "nobody is there");
    // Another account's, or a program that knows nothing of the software NIC.
    const RawPeer other(link_->address(1), link_->address(0));
    require(end.send(gid(1), request_mad(end.id(1), kService)) == 0, "somebody is there");
  }));
  client.finish();
}

TEST_F(GeneralServices, NothingLeavesThatIsNoneOfConnectionManagementOrOfAnotherSource) {
  Child client(at(0, [&](Wire&, GsiEnd& end) {
    gdr_gsi_mad subnet = request_mad(end.id(1), kService);
    subnet.bytes[1] = 0x03;
    require(end.send(gid(0), subnet) == EPROTONOSUPPORT, "no subnet administration");
    gdr_gsi_mad stranger = request_mad(end.id(1), kService);
    std::copy_n(gid(1).begin(), 16, stranger.source);
    std::copy_n(gid(0).begin(), 16, stranger.destination);
    require(gdr_gsi_send(end.get(), &stranger) == EADDRNOTAVAIL, "no foreign source");
    const GidBytes ipv6 = {0xfd, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    require(end.send(ipv6, request_mad(end.id(1), kService)) == ENETUNREACH, "no other family");
  }));
  client.finish();
  EXPECT_EQ(link_->counted(0, "packets_sent"), 0u);
}

TEST_F(GeneralServices, AServiceIdHasOneListener) {
  Child first(listener(1, kService, 1));
  (void)first.wire().receive<char>();
  Child second(at(1, [](Wire& wire, GsiEnd& end) {
    require(end.listen(kService) == EADDRINUSE, "another process has it");
    require(end.listen(kOther) == 0 && end.listen(kOther) == EADDRINUSE, "this one has it");
    require(gdr_gsi_unlisten(end.get(), kService) == EINVAL, "it is not this one's");
    wire.meet();
    wire.meet();
    require(end.listen(kService) == 0, "the listener has died");
  }));
  second.wire().meet();
  Child elsewhere(at(0, [](Wire&, GsiEnd& end) {
    require(end.listen(kService) == 0, "each address has its own");
  }));
  elsewhere.finish();
  first.kill();
  second.wire().meet();
  second.finish();
}

TEST_F(GeneralServices, OfManyThatListenAtTheSameTimeOneDoes) {
  constexpr int kProcesses = 6, kRounds = 20;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(std::make_unique<Child>(at(1, [](Wire& wire, GsiEnd& end) {
      wire.meet();
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        wire.send(end.listen(kService + round * 0x100));
        wire.meet();
      }
    })));
  }
  for (auto& child : children) child->wire().meet();
  for (int round = 0; round < kRounds; ++round) {
    int listening = 0;
    for (auto& child : children) {
      const int result = child->wire().receive<int>();
      EXPECT_TRUE(result == 0 || result == EADDRINUSE) << result;
      listening += result == 0 ? 1 : 0;
    }
    EXPECT_EQ(listening, 1) << "round " << round;
    for (auto& child : children) child->wire().meet();
  }
  for (auto& child : children) child->finish();
}

TEST_F(GeneralServices, RequestsToAListenerThatHasDiedAreRefused) {
  Child listens(listener(1, kService, 1));
  (void)listens.wire().receive<char>();
  Child stays(at(1, [](Wire& wire, GsiEnd&) { wire.meet(), wire.meet(); }));
  stays.wire().meet();
  Child client(at(0, [&](Wire& wire, GsiEnd& end) {
    ask(end, gid(1), kService, 1, 1, 1);
    wire.meet();
    wire.meet();
    const auto is_refused = [&] {
      require(end.send(gid(1), request_mad(end.id(2), kService, 2)) == 0, "a request leaves");
      const auto answer = end.receive(100);
      return answer && attribute_of(*answer) == kRej;
    };
    require(soon(is_refused), "a dead listener is forgotten");
  }));
  client.wire().meet();
  listens.kill();
  client.wire().meet();
  client.finish();
  stays.wire().meet();
  stays.finish();
}

// The kernel gives each message to the process that it is for.
TEST_F(GeneralServices, AStoppedProcessKeepsNothingFromOthersOfItsAddress) {
  const auto idle = at(1, [](Wire& wire, GsiEnd&) { wire.meet(), wire.receive<char>(); });
  Child first(idle);
  first.wire().meet();
  Child listens(listener(1, kService, 1));
  (void)listens.wire().receive<char>();
  Child second(idle), third(idle);
  second.wire().meet(), third.wire().meet();
  usleep(300'000);  // until the kernel has been told, see port_sharing.h
  for (Child* child : {&first, &second, &third}) ::kill(child->pid(), SIGSTOP);
  Child client(at(0, [&](Wire&, GsiEnd& end) {
    for (std::uint32_t i = 1; i <= 20; ++i) ask(end, gid(1), kService, i, i, 1);
  }));
  client.finish();
  for (Child* child : {&first, &second, &third}) child->kill();
  listens.kill();
}

TEST_F(GeneralServices, ACallbackMayCloseItsOwnAndNoneComesAfterwards) {
  Child server(at(1, [](Wire& wire, GsiEnd& end) {
    struct Closer {
      gdr_gsi* gsi = nullptr;
      std::atomic<int> calls{0};
    } closer;
    const auto close_it = [](void* user, const gdr_gsi_mad*) {
      auto& self = *static_cast<Closer*>(user);
      ++self.calls;
      gdr_gsi_close(self.gsi);
    };
    Side other(0);
    const gdr_gsi_user closing{close_it, nullptr, &closer};
    closer.gsi = gdr_gsi_open(other.context(), &closing);
    require(closer.gsi != nullptr && gdr_gsi_listen(closer.gsi, kService) == 0, "it listens");
    wire.meet();
    require(soon([&] { return closer.calls > 0; }), "it was called");
    wire.meet();
    require(end.listen(kService) == 0, "its service id is free");
    require(closer.calls == 1, "it was called once");
    // A callback that runs is waited for.
    struct Slow {
      std::atomic<bool> began{false}, ended{false};
    } slow;
    const auto be_slow = [](void* user, const gdr_gsi_mad*) {
      auto& self = *static_cast<Slow*>(user);
      self.began = true;
      usleep(100'000);
      self.ended = true;
    };
    const gdr_gsi_user slowing{be_slow, nullptr, &slow};
    gdr_gsi* waits = gdr_gsi_open(other.context(), &slowing);
    require(waits != nullptr && gdr_gsi_listen(waits, kOther) == 0, "it listens");
    wire.meet();
    require(soon([&] { return slow.began.load(); }), "the call begins");
    gdr_gsi_close(waits);
    require(slow.began && slow.ended, "close waits for the call");
  }));
  server.wire().meet();
  Child client(at(0, [&](Wire& wire, GsiEnd& end) {
    for (std::uint32_t i = 1; i <= 5; ++i) {
      require(end.send(gid(1), request_mad(end.id(i), kService, i)) == 0, "requests leave");
    }
    wire.meet();
    wire.meet();
    require(end.send(gid(1), request_mad(end.id(9), kOther, 9)) == 0, "a request leaves");
    wire.meet();
  }));
  client.wire().meet();
  server.wire().meet();
  server.wire().meet();
  client.wire().meet();
  client.wire().meet();
  server.finish();
  client.finish();
}

TEST_F(GeneralServices, AForksChildHasNoneOfIt) {
  Child server(at(1, [](Wire& wire, GsiEnd& end) {
    require(end.listen(kService) == 0, "it listens");
    wire.meet();
    const pid_t child = fork();
    if (child == 0) {
      alarm(600);
      bool right = end.send(end.gid(), request_mad(1, kService)) == ENODEV &&
                   end.listen(kOther) == ENODEV && gdr_gsi_unlisten(end.get(), kService) == ENODEV;
      end.close();
      _exit(right ? 0 : 1);
    }
    int status = -1;
    require(waitpid(child, &status, 0) == child && status == 0, "the child fails as it should");
    wire.meet();
    require(mark_of(need(end, "the parent listens on")) == 7, "the parent listens on");
  }));
  server.wire().meet();
  server.wire().meet();
  Child client(at(0, [&](Wire&, GsiEnd& end) {
    require(end.send(gid(1), request_mad(end.id(1), kService, 7)) == 0, "a request leaves");
  }));
  client.finish();
  server.finish();
}

// The listener is told of a request, stops listening and answers it; the answer is lost, and the
// request comes again.
TEST_F(GeneralServices, RepeatedRequestsStillComeToWhoNoLongerListens) {
  Child server(at(1, [](Wire& wire, GsiEnd& end) {
    require(end.listen(kService) == 0, "it listens");
    wire.meet();
    (void)need(end, "a request comes");
    require(gdr_gsi_unlisten(end.get(), kService) == 0, "it no longer listens");
    wire.meet();
    require(mark_of(need(end, "it comes again")) == 1, "it comes again");
    wire.meet();
    // Who listens for it now gets new ones.
    wire.meet();
    require(!end.receive(kQuiet), "they are the other's");
  }));
  server.wire().meet();
  Child client(at(0, [&](Wire& wire, GsiEnd& end) {
    const auto send = [&](std::uint32_t mark) {
      require(end.send(gid(1), request_mad(end.id(1), kService, mark)) == 0, "a request leaves");
    };
    send(1);
    wire.meet();
    send(1);
    require(!end.receive(kQuiet), "it is not refused");
    wire.meet();
    send(2);
    require(mark_of(need(end, "the other answers")) == 2, "the other answers");
  }));
  server.wire().meet();
  client.wire().meet();
  server.wire().meet();
  Child other(listener(1, kService, 2));
  (void)other.wire().receive<char>();
  client.wire().meet();
  client.finish();
  server.wire().meet();
  server.finish();
  other.kill();
}

}  // namespace
}  // namespace gdr::test
