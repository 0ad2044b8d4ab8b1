// SIGSTOP of one of two processes at each point of a request: the other's calls return as a NIC's
// would, and when the stopped one goes on, hours later for all it knows, it touches nothing that is
// not its own any more.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "connection.h"
#include "freezer.h"
#include "segments.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 1 << 20;
constexpr std::size_t kLength = 40'000;
constexpr std::uint8_t kMark = 0x5a;
// Without waiting for the stopped one, which never goes on. No wait for a copy (30 s) is as short.
constexpr Nanoseconds kAtOnce = 20 * kSecond;
constexpr Patience kShort = {.timeout = 10, .retry_count = 1};  // 4 ms, twice

struct Case {
  const char* point;
  ibv_wr_opcode opcode;
  std::size_t length = kLength;
  int requests = 1;  // of one list, of which the last is told of
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  static const char* const kNames[] = {
      "Write", "WriteWithImmediate", "Send",       "SendWithImmediate",
      "Read",  "CompareAndSwap",     "FetchAndAdd"};
  std::string point = info.param.point;
  point.erase(std::remove(point.begin(), point.end(), '_'), point.end());
  const std::string list =
      info.param.requests > 1 ? "ListOf" + std::to_string(info.param.requests) : "";
  return list + kNames[info.param.opcode] + std::to_string(info.param.length) + "At" + point;
}

// Each to a page of its own, from the second one on.
void post_list(ibv_qp* qp, Memory& from, const Case& what, const Remote& to) {
  std::vector<ibv_sge> segments;
  std::vector<ibv_send_wr> requests(static_cast<std::size_t>(what.requests));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    segments.push_back(from.segment((i + 1) * 4096, what.length));
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].opcode = what.opcode;
    requests[i].sg_list = &segments[i];
    requests[i].num_sge = 1;
    requests[i].wr.rdma = {to.address + (i + 1) * 4096, to.key};
    if (i + 1 < requests.size()) requests[i].next = &requests[i + 1];
  }
  requests.back().send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  require(ibv_post_send(qp, requests.data(), &bad) == 0, "posted");
}

void post(Side& side, ibv_qp* qp, Memory& from, const Case& what, const Remote& to) {
  if (what.requests > 1) {
    post_list(qp, from, what, to);
  } else if (what.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    ibv_send_wr add{};
    add.opcode = what.opcode;
    add.send_flags = IBV_SEND_SIGNALED;
    add.wr.atomic = {to.address, 1, 0, to.key};
    side.post(qp, add, {from.segment(0, 8)});
  } else if (what.opcode == IBV_WR_RDMA_READ) {
    side.read(qp, from, 0, what.length, to);
  } else if (what.opcode == IBV_WR_SEND) {
    side.send(qp, from, 0, what.length);
  } else {
    side.write(qp, from, 0, what.length, to, 0, 1, what.opcode);
  }
}

// Stops itself in its first request, and tells how that ended when it went on.
void be_stopped(Wire& wire, const Case& what) {
  setenv("GDR_STOP", (std::string(what.point) + ":1").c_str(), 1);
  Side side;
  Memory& memory = side.memory(kBytes);
  memory.fill(0x11);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  wire.send(side.endpoint(qp));
  side.connect(qp, wire.receive<Endpoint>(), kShort);
  const auto to = wire.receive<Remote>();
  wire.meet();
  post(side, qp, memory, what, to);
  wire.send(side.completion().status);
  wire.receive<char>();
}

class Stop : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
#ifndef GDR_FAULT_HOOKS
    GTEST_SKIP() << "built without fault hooks";
#endif
    child_.emplace([this](Wire& wire) { be_stopped(wire, GetParam()); });
    memory_ = &side_.memory(kBytes);
    memory_->fill(0);
    qp_ = side_.queue_pair(IBV_QPT_RC);
    const auto other = child_->wire().receive<Endpoint>();
    child_->wire().send(side_.endpoint(qp_));
    side_.connect(qp_, other, kShort);
    for (int i = 0; i < 4; ++i) side_.receive(qp_, {memory_->segment(0, kBytes)}, 100);
    child_->wire().send(memory_->remote());
    child_->wire().meet();
    siginfo_t stopped{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child_->pid()), &stopped, WSTOPPED | WNOWAIT), 0);
    ASSERT_EQ(stopped.si_status, SIGSTOP);
  }

  template <typename Call>
  static void at_once(const char* what, const Call& call) {
    const Nanoseconds start = now();
    EXPECT_EQ(call(), 0) << what;
    EXPECT_LT(now() - start, kAtOnce)
        << what << " took " << (now() - start) / kMillisecond << " ms";
  }

  // How its request ends. By then it has done all that it will ever do here.
  ibv_wc_status go_on() {
    kill(child_->pid(), SIGCONT);
    const auto status = child_->wire().receive<ibv_wc_status>();
    child_->wire().send('e');
    child_->finish();
    return status;
  }

  Side side_;
  Memory* memory_ = nullptr;
  ibv_qp* qp_ = nullptr;
  std::optional<Child> child_;
};

TEST_P(Stop, OfAnInitiatorHoldsUpNoDeregistration) {
  std::uint8_t* bytes = memory_->bytes();
  at_once("ibv_dereg_mr", [&] {
    memory_->deregister();
    return 0;
  });
  std::fill(bytes, bytes + kBytes, kMark);
  (void)go_on();
  EXPECT_EQ(std::find_if(bytes, bytes + kBytes, [](std::uint8_t byte) { return byte != kMark; }),
            bytes + kBytes)
      << "memory that is not registered any more is written";
}

TEST_P(Stop, OfAnInitiatorHoldsUpNeitherErrorNorReset) {
  at_once("ibv_modify_qp(ERR)", [&] { return Side::move_to(qp_, IBV_QPS_ERR); });
  // Four receives: completed before it was stopped, or flushed.
  int ended = 0;
  const Nanoseconds start = now();
  while (ended < 4 && now() - start < kAtOnce) {
    ibv_wc completion{};
    if (ibv_poll_cq(side_.queue(), 1, &completion) == 1) ++ended;
  }
  EXPECT_EQ(ended, 4);
  memory_->fill(kMark);
  at_once("ibv_modify_qp(RESET)", [&] { return Side::move_to(qp_, IBV_QPS_RESET); });
  (void)go_on();
  EXPECT_EQ(memory_->first_not(kMark, 0, kBytes), -1);
  ibv_wc completion{};
  EXPECT_EQ(ibv_poll_cq(side_.queue(), 1, &completion), 0) << "a receive ends twice";
}

TEST_P(Stop, OfAnInitiatorHoldsUpNoDestruction) {
  ibv_cq* own = ibv_create_cq(side_.context(), 16, nullptr, nullptr, 0);
  at_once("ibv_destroy_qp", [&] { return ibv_destroy_qp(qp_); });
  memory_->fill(kMark);
  at_once("ibv_destroy_cq", [&] { return ibv_destroy_cq(own); });
  at_once("ibv_create_qp and so on", [&] {
    ibv_qp* next = side_.queue_pair(IBV_QPT_RC);
    return next == nullptr ? 1 : ibv_destroy_qp(next);
  });
  (void)go_on();
  EXPECT_EQ(memory_->first_not(kMark, 0, kBytes), -1);
}

// Others that complete into the same queue, and atomics of others on the same process.
TEST_P(Stop, OfAnInitiatorHoldsUpNoOtherInitiator) {
  Child other([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(kBytes);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    wire.send(side.endpoint(qp));
    side.connect(qp, wire.receive<Endpoint>());
    const auto to = wire.receive<Remote>();
    wire.meet();
    const Nanoseconds start = now();
    for (const ibv_wr_opcode opcode :
         {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
      post(side, qp, memory, {"", opcode, 64}, to);
      require(now() - start < kAtOnce, "posting returns at once");
      side.expect(IBV_WC_SUCCESS);
    }
    require(now() - start < 3 * kAtOnce, "three requests are done");
  });
  ibv_qp* second = side_.queue_pair(IBV_QPT_RC);
  const auto endpoint = other.wire().receive<Endpoint>();
  other.wire().send(side_.endpoint(second));
  side_.connect(second, endpoint);
  side_.receive(second, {memory_->segment(0, 64)}, 7);
  other.wire().send(memory_->remote());
  other.wire().meet();
  other.finish();
  // The stopped one's own request is as it should be in the end.
  EXPECT_EQ(go_on(), IBV_WC_SUCCESS);
}

constexpr Case kCases[] = {
    {"locked", IBV_WR_RDMA_WRITE},           {"locked", IBV_WR_RDMA_WRITE, 8},
    {"locked", IBV_WR_RDMA_WRITE, 8, 40},    {"locked", IBV_WR_RDMA_READ},
    {"locked", IBV_WR_RDMA_READ, 8, 40},     {"locked", IBV_WR_SEND},
    {"locked", IBV_WR_ATOMIC_FETCH_AND_ADD}, {"copied", IBV_WR_RDMA_WRITE},
    {"copied", IBV_WR_RDMA_WRITE, 8, 40},    {"copied", IBV_WR_SEND},
    {"copied", IBV_WR_ATOMIC_FETCH_AND_ADD}, {"receive_taken", IBV_WR_SEND},
    {"receive_taken", IBV_WR_SEND, 64},      {"receive_taken", IBV_WR_RDMA_WRITE_WITH_IMM},
    {"pushing_receive", IBV_WR_SEND},        {"pushing_receive", IBV_WR_SEND, 64},
    {"receive_pushed", IBV_WR_SEND},         {"receive_pushed", IBV_WR_RDMA_WRITE_WITH_IMM},
    {"pushing", IBV_WR_RDMA_WRITE},
};
INSTANTIATE_TEST_SUITE_P(AtEachPoint, Stop, testing::ValuesIn(kCases), name_of);

// As the kernel shows it, it waits for something: it is not known to be stopped.
class Freeze : public Stop {
 protected:
  void SetUp() override {
    Stop::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    freezer_ = Freezer::around(child_->pid());
    if (!freezer_) GTEST_SKIP() << "no control group that freezes can be had here";
    kill(child_->pid(), SIGCONT);
    std::ifstream file("/proc/" + std::to_string(child_->pid()) + "/stat");
    std::string status;
    std::getline(file, status);
    ASSERT_EQ(status.find(") T "), std::string::npos) << status;
  }

  ibv_wc_status go_on() {
    freezer_->thaw();
    return Stop::go_on();
  }

  std::unique_ptr<Freezer> freezer_;
};

TEST_P(Freeze, OfAnInitiatorHoldsUpNoCallForMoreThanSeconds) {
  std::uint8_t* bytes = memory_->bytes();
  const Nanoseconds start = now();
  memory_->deregister();
  EXPECT_EQ(Side::move_to(qp_, IBV_QPS_ERR), 0);
  EXPECT_EQ(ibv_destroy_qp(qp_), 0);
  const Nanoseconds took = now() - start;
  EXPECT_LT(took, 80 * kSecond);
  EXPECT_GT(took, 100 * kMillisecond) << "it held nothing up: was it frozen?";
  std::fill(bytes, bytes + kBytes, kMark);
  EXPECT_NE(go_on(), IBV_WC_SUCCESS);
  EXPECT_EQ(std::find_if(bytes, bytes + kBytes, [](std::uint8_t byte) { return byte != kMark; }),
            bytes + kBytes)
      << "memory that is not registered any more is written";
}

constexpr Case kFrozen[] = {
    {"locked", IBV_WR_RDMA_WRITE},           {"locked", IBV_WR_RDMA_READ},
    {"locked", IBV_WR_ATOMIC_FETCH_AND_ADD}, {"receive_taken", IBV_WR_SEND},
    {"pushing_receive", IBV_WR_SEND},
};
INSTANTIATE_TEST_SUITE_P(AtEachPoint, Freeze, testing::ValuesIn(kFrozen), name_of);

// A process of the same user writes tokens of the living into locks that they do not hold: its own,
// and that of the process whose locks they are. Then it lives on.
TEST(Scribbles, IntoLocksHoldUpDestructionForABoundedTimeThoughTheScribblerLivesOn) {
  Child scribbler([](Wire& wire) {
    Side side;
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    wire.send(side.endpoint(qp));
    const auto victim = wire.receive<Endpoint>();
    side.connect(qp, victim, kShort);
    const std::uint64_t own = header_of(segment_of(qp->qp_num)).token;
    std::uint8_t* segment = segment_of(victim.number);
    const std::uint64_t theirs = header_of(segment).token;
    for (std::uint32_t i = 0; i < rnic::kQueuePairs; ++i) {
      queue_pair_of(segment, i).responder.word.store(own << 32 | i);
    }
    for (std::uint32_t i = 0; i < 64; ++i) {
      completion_queue_of(segment, i).producer.word.store((i % 2 == 0 ? own : theirs) << 32);
    }
    header_of(segment).atomics.word.store(own << 32);
    wire.meet();
    wire.receive<char>();
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_cq* queue = ibv_create_cq(side.context(), 16, nullptr, nullptr, 0);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const auto other = scribbler.wire().receive<Endpoint>();
  scribbler.wire().send(side.endpoint(qp));
  side.connect(qp, other, kShort);
  scribbler.wire().meet();
  const Nanoseconds start = now();
  memory.deregister();
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(queue), 0);
  EXPECT_LT(now() - start, kLastResort);
  scribbler.wire().send('e');
  scribbler.finish();
}

}  // namespace
}  // namespace gdr::test
