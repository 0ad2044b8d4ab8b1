// Tag matching between two processes: which receive a message goes into, messages that are only
// announced, wrong ones, and death.
#include <endian.h>
#include <gtest/gtest.h>
#include <infiniband/tm_types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "base/clock.h"
#include "connection.h"
#include "tag_side.h"
#include "waits.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 1 << 20;
constexpr std::size_t kHeader = sizeof(ibv_tmh);
constexpr std::size_t kPlain = 512 << 10;  // where plain receives lie
constexpr std::uint64_t kAll = ~std::uint64_t{0};

// The end that matches.
struct Matcher {
  Side side;
  ibv_srq* srq = tag_queue(side);
  Memory& memory = side.memory(kBytes);
  std::uint32_t unexpected = 0;

  ibv_qp* accept(Wire& wire) {
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 8, false, nullptr, srq);
    wire.send(side.endpoint(qp));
    wire.send(memory.remote());
    side.connect(qp, wire.receive<Endpoint>());
    wire.meet();
    return qp;
  }
  void operate(ibv_ops_wr operation) {
    ibv_ops_wr* bad = nullptr;
    require(ibv_post_srq_ops(srq, &operation, &bad) == 0, "operated");
  }
  void add(std::uint64_t id, std::uint64_t tag, std::uint64_t mask, std::vector<ibv_sge> segments) {
    ibv_ops_wr operation{};
    operation.opcode = IBV_WR_TAG_ADD;
    operation.flags = IBV_OPS_TM_SYNC;
    operation.tm.unexpected_cnt = unexpected;
    operation.tm.add.recv_wr_id = id;
    operation.tm.add.sg_list = segments.data();
    operation.tm.add.num_sge = static_cast<int>(segments.size());
    operation.tm.add.tag = tag;
    operation.tm.add.mask = mask;
    operate(operation);
  }
  void expect(std::uint64_t id, ibv_wc_opcode opcode, unsigned flags, std::uint32_t bytes) {
    const ibv_wc completion = side.expect(IBV_WC_SUCCESS);
    require(completion.wr_id == id,
            "receive " + std::to_string(id) + " takes it, not " + std::to_string(completion.wr_id));
    require(completion.opcode == opcode, "of opcode " + std::to_string(completion.opcode));
    require(completion.wc_flags == flags, "with flags " + std::to_string(completion.wc_flags));
    require(completion.byte_len == bytes, "of so many bytes");
  }
};

struct Sender {
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);

  explicit Sender(Wire& wire) { connect_to_target(side, qp, wire); }

  void send(std::uint8_t opcode, std::uint64_t tag, std::uint64_t seed, std::size_t bytes,
            ibv_wc_status status = IBV_WC_SUCCESS) {
    memory.fill_pattern(seed, kHeader, bytes);
    write_header(memory, opcode, tag);
    side.send(qp, memory, 0, kHeader + bytes);
    side.expect(status);
  }
  void announce(std::uint64_t tag, std::uint32_t key, std::uint32_t bytes) {
    write_header(memory, IBV_TMH_RNDV, tag);
    test::announce(memory, key, bytes);
    side.send(qp, memory, 0, kHeader + sizeof(ibv_rvh));
    side.expect(IBV_WC_SUCCESS);
  }
};

// Sizes on both sides of what a completion carries.
TEST(Tags, AMessageGoesToTheOldestReceiveThatItsTagMatches) {
  Child child([](Wire& wire) {
    Matcher own;
    own.add(1, 5, kAll, {own.memory.segment(0, 100), own.memory.segment(10'000, 10'000)});
    own.add(2, 0, 0, {own.memory.segment(20'000, 10'000)});
    own.add(3, 5, kAll, {own.memory.segment(30'000, 10'000)});
    own.accept(wire);
    constexpr unsigned kMatched = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;
    own.expect(2, IBV_WC_TM_RECV, kMatched, 50);
    own.expect(1, IBV_WC_TM_RECV, kMatched, 5000);
    own.expect(3, IBV_WC_TM_RECV, kMatched, 0);
    wire.send_bytes(own.memory.bytes(), 40'000);
    wire.meet();
  });
  Sender own(child.wire());
  own.send(IBV_TMH_EAGER, 7, 1, 50);
  std::vector<std::uint8_t> small(own.memory.bytes() + kHeader, own.memory.bytes() + kHeader + 50);
  own.send(IBV_TMH_EAGER, 5, 2, 5000);
  own.send(IBV_TMH_EAGER, 5, 3, 0);
  std::vector<std::uint8_t> received(40'000);
  child.wire().receive_bytes(received.data(), received.size());
  const std::uint8_t* large = own.memory.bytes() + kHeader;
  own.memory.fill_pattern(2, kHeader, 5000);
  EXPECT_EQ(std::memcmp(received.data() + 20'000, small.data(), 50), 0);
  EXPECT_EQ(std::memcmp(received.data(), large, 100), 0);
  EXPECT_EQ(std::memcmp(received.data() + 10'000, large + 100, 4900), 0);
  child.wire().meet();
  child.finish();
}

TEST(Tags, UnmatchedMessageGoesIntoAPlainReceiveWithItsHeader) {
  Child child([](Wire& wire) {
    Matcher own;
    own.add(1, 5, kAll, {own.memory.segment(0, 4096)});
    for (std::uint64_t id = 10; id < 13; ++id) {
      own.side.receive(own.srq, {own.memory.segment(kPlain, 4096)}, id);
    }
    own.accept(wire);
    own.expect(10, IBV_WC_TM_RECV, 0, kHeader + 300);
    ibv_tmh header{};
    std::memcpy(&header, own.memory.bytes() + kPlain, sizeof header);
    require(be64toh(header.tag) == 6 && header.opcode == IBV_TMH_EAGER, "its header");
    require(own.memory.first_not_pattern(1, kPlain + kHeader, 300) == -1, "and its bytes");
    wire.meet();
    own.expect(11, IBV_WC_TM_NO_TAG, 0, kHeader + 20);
    own.expect(12, IBV_WC_TM_NO_TAG, 0, kHeader);
    wire.meet();
  });
  Sender own(child.wire());
  own.memory.fill(0);
  own.memory.fill_pattern(1, kHeader, 300);
  write_header(own.memory, IBV_TMH_EAGER, 6);
  own.side.send(own.qp, own.memory, 0, kHeader + 300);
  own.side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  own.send(IBV_TMH_NO_TAG, 5, 2, 20);
  own.send(IBV_TMH_FIN, 5, 2, 0);
  child.wire().meet();
  child.finish();
}

TEST(Tags, ReceiveAddedAfterAnUnexpectedMessageWaitsUntilThatIsPolled) {
  Child child([](Wire& wire) {
    Matcher own;
    for (std::uint64_t id = 10; id < 12; ++id) {
      own.side.receive(own.srq, {own.memory.segment(kPlain, 4096)}, id);
    }
    own.accept(wire);
    wire.meet();
    own.add(1, 5, kAll, {own.memory.segment(0, 4096)});  // the message is there, and unseen
    wire.meet();
    own.expect(10, IBV_WC_TM_RECV, 0, kHeader + 8);
    own.expect(11, IBV_WC_TM_RECV, 0, kHeader + 8);
    own.unexpected = 2;
    ibv_ops_wr sync{};
    sync.opcode = IBV_WR_TAG_SYNC;
    sync.tm.unexpected_cnt = 2;
    own.operate(sync);
    wire.meet();
    own.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, 8);
    wire.meet();
  });
  Sender own(child.wire());
  own.send(IBV_TMH_EAGER, 5, 1, 8);
  child.wire().meet();
  child.wire().meet();
  own.send(IBV_TMH_EAGER, 5, 1, 8);
  child.wire().meet();
  own.send(IBV_TMH_EAGER, 5, 1, 8);
  child.wire().meet();
  child.finish();
}

// It finds neither a tag nor a plain receive, and waits for either.
TEST(Tags, AMessageThatWaitsIsWokenByATag) {
  constexpr std::uint64_t kMessages = 10;
  Child child([](Wire& wire) {
    Matcher own;
    own.accept(wire);
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      wire.meet();
      usleep(20'000);
      own.add(i, 5, kAll, {own.memory.segment(0, 4096)});
      own.expect(i, IBV_WC_TM_RECV, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, 8);
    }
    wire.meet();
  });
  Sender own(child.wire());
  write_header(own.memory, IBV_TMH_EAGER, 5);
  Waits waits;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    own.side.send(own.qp, own.memory, 0, kHeader + 8);
    child.wire().meet();
    waits.add([&] { own.side.expect(IBV_WC_SUCCESS); });
  }
  waits.require_quicker_than_ticks();
  child.wire().meet();
  child.finish();
}

TEST(Tags, AnAnnouncedMessageIsReadByTheReceiverWhichTellsTheSender) {
  constexpr std::uint32_t kLong = 300'000;
  Child child([](Wire& wire) {
    Matcher own;
    own.add(1, 5, kAll, {own.memory.segment(0, 100'000), own.memory.segment(200'000, 250'000)});
    own.accept(wire);
    own.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH, kLong);
    own.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID, kLong);
    wire.send_bytes(own.memory.bytes(), 100'000);
    wire.send_bytes(own.memory.bytes() + 200'000, 200'000);
    own.side.expect_quiet();
    wire.meet();
  });
  Sender own(child.wire());
  own.memory.fill_pattern(9, 4096, kLong);
  own.side.receive(own.qp, {own.memory.segment(kPlain, 64)}, 44);
  own.announce(5, own.memory.key(), kLong);
  const ibv_wc told = own.side.expect(IBV_WC_SUCCESS);
  EXPECT_EQ(told.opcode, IBV_WC_RECV);
  EXPECT_EQ(told.wr_id, 44u);
  EXPECT_EQ(told.byte_len, kHeader);
  ibv_tmh header{};
  std::memcpy(&header, own.memory.bytes() + kPlain, sizeof header);
  EXPECT_EQ(header.opcode, IBV_TMH_FIN);
  EXPECT_EQ(be64toh(header.tag), 5u);
  EXPECT_EQ(be32toh(header.app_ctx), 0xabcu);
  std::vector<std::uint8_t> received(kLong);
  child.wire().receive_bytes(received.data(), 100'000);
  child.wire().receive_bytes(received.data() + 100'000, 200'000);
  EXPECT_EQ(std::memcmp(received.data(), own.memory.bytes() + 4096, kLong), 0);
  child.wire().meet();
  child.finish();
}

// The receiver's queue pair fails by it, as by a read of its own.
TEST(Tags, AnAnnouncementOfMemoryThatCannotBeReadEndsIncomplete) {
  Child child([](Wire& wire) {
    Matcher own;
    own.add(1, 5, kAll, {own.memory.segment(0, 100'000)});
    own.accept(wire);
    own.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH, 5000);
    require(own.side.expect(IBV_WC_TM_RNDV_INCOMPLETE).wr_id == 1, "of that receive");
    own.side.expect_quiet();
    wire.meet();
  });
  Sender own(child.wire());
  own.announce(5, own.memory.key() ^ 1, 5000);
  EXPECT_EQ(own.side.event(), IBV_EVENT_QP_ACCESS_ERR);
  child.wire().meet();
  child.finish();
}

// Nobody else comes to the queue: its owner has to find out by itself.
TEST(Tags, AnAnnouncementOfOneThatDiedEndsIncomplete) {
#ifndef GDR_FAULT_HOOKS
  GTEST_SKIP() << "built without fault hooks";
#endif
  Child child([](Wire& wire) {
    setenv("GDR_KILL", "receive_pushed:1", 1);
    Sender own(wire);
    own.announce(5, own.memory.key(), 5000);
  });
  Matcher own;
  own.add(1, 5, kAll, {own.memory.segment(0, 100'000)});
  own.accept(child.wire());
  const Nanoseconds start = now();
  own.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH, 5000);
  EXPECT_EQ(own.side.expect(IBV_WC_TM_RNDV_INCOMPLETE).wr_id, 1u);
  EXPECT_LT(now() - start, 20 * kSecond);
  child.kill();
}

struct Wrong {
  const char* what;
  std::uint8_t opcode;
  std::size_t bytes;  // of the whole message
  ibv_wc_status status;
  ibv_wc_status at_the_receiver;  // success: nothing is completed there
};

TEST(Tags, WrongMessagesFailOnBothSides) {
  for (const Wrong& wrong :
       {Wrong{"longer than the receive that it matches", IBV_TMH_EAGER, kHeader + 101,
              IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR},
        Wrong{"without a whole header", IBV_TMH_EAGER, 15, IBV_WC_REM_INV_REQ_ERR, IBV_WC_SUCCESS},
        Wrong{"announcing nothing", IBV_TMH_RNDV, 31, IBV_WC_REM_INV_REQ_ERR, IBV_WC_SUCCESS},
        Wrong{"of no known kind", 9, 64, IBV_WC_REM_INV_REQ_ERR, IBV_WC_SUCCESS}}) {
    SCOPED_TRACE(wrong.what);
    Child child([&](Wire& wire) {
      Matcher own;
      own.add(1, 5, kAll, {own.memory.segment(0, 100)});
      own.accept(wire);
      require(own.side.event() == IBV_EVENT_QP_REQ_ERR, "the event");
      if (wrong.at_the_receiver != IBV_WC_SUCCESS) {
        require(own.side.expect(wrong.at_the_receiver).wr_id == 1, "its receive");
      }
      own.side.expect_quiet();
      wire.meet();
    });
    Sender own(child.wire());
    write_header(own.memory, wrong.opcode, 5);
    own.side.send(own.qp, own.memory, 0, wrong.bytes);
    own.side.expect(wrong.status);
    child.wire().meet();
    child.finish();
  }
}

constexpr std::uint64_t kReceives = 16;

// Half of the messages match, half are unexpected; some are carried, some are moved.
void send_until_the_end(Wire& wire, const char* appointment) {
  if (appointment != nullptr) setenv("GDR_KILL", appointment, 1);
  Sender own(wire);
  const auto matching = wire.receive<std::uint64_t>(), others = wire.receive<std::uint64_t>();
  for (std::uint64_t i = 0; i < std::max(matching, others); ++i) {
    const std::size_t bytes = i % 4 < 2 ? 40 : 2000;
    if (i < matching) own.send(IBV_TMH_EAGER, 1, i, bytes);
    if (i < others) own.send(IBV_TMH_EAGER, 2, i, bytes);
  }
  wire.meet();
}

void check_receives_of_the_dead(const std::string& appointment) {
  Child victim([&](Wire& wire) { send_until_the_end(wire, appointment.c_str()); });
  Child survivor([](Wire& wire) { send_until_the_end(wire, nullptr); });
  Matcher own;
  std::map<std::uint64_t, int> completed;
  for (std::uint64_t id = 0; id < kReceives; ++id) {
    own.add(id, 1, kAll, {own.memory.segment(0, 4096)});
    own.side.receive(own.srq, {own.memory.segment(kPlain, 4096)}, 100 + id);
  }
  own.accept(victim.wire());
  own.accept(survivor.wire());
  victim.wire().send(kReceives);
  victim.wire().send(kReceives);
  siginfo_t ended{};
  require(waitid(P_PID, static_cast<id_t>(victim.pid()), &ended, WEXITED | WNOWAIT) == 0 &&
              ended.si_status == SIGKILL,
          "the victim dies as it was told to: " + appointment);
  std::uint64_t matching = kReceives, others = kReceives;
  const auto take = [&](const ibv_wc& completion) {
    require(completion.status == IBV_WC_SUCCESS, "received after " + appointment);
    require(++completed[completion.wr_id] == 1, "given out once, after " + appointment);
    --(completion.wr_id < 100 ? matching : others);
  };
  ibv_wc completion{};
  while (ibv_poll_cq(own.side.queue(), 1, &completion) == 1) take(completion);
  survivor.wire().send(matching);
  survivor.wire().send(others);
  while (matching != 0 || others != 0) take(own.side.completion());
  survivor.wire().meet();
  own.side.expect_quiet();
  // Both sides have counted the same.
  ibv_ops_wr sync{};
  sync.opcode = IBV_WR_TAG_SYNC;
  sync.flags = IBV_OPS_SIGNALED;
  sync.tm.unexpected_cnt = kReceives;
  own.operate(sync);
  own.expect(0, IBV_WC_TM_SYNC, 0, 0);
  survivor.finish();
  victim.kill();
}

TEST(Tags, EachReceiveIsCompletedOnceThoughWhoTookItDies) {
#ifndef GDR_FAULT_HOOKS
  GTEST_SKIP() << "built without fault hooks";
#endif
  for (const char* point : {"copied", "receive_taken", "pushing_receive", "receive_pushed"}) {
    for (const int passage : {1, 2, 3, 4, 7}) {
      const std::string appointment = std::string(point) + ":" + std::to_string(passage);
      // A process knows its appointment from its first kill point on: this one must pass none.
      Child scene([&](Wire&) { check_receives_of_the_dead(appointment); });
      scene.finish();
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gdr::test
