// Lists of short sends: locks of their target are taken once for several of them, which reach it
// together, and counters are added to once. Nobody can tell, wherever within a list their sender
// dies or is stopped.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::uint32_t kList = 40, kTogether = 32;  // more than go together
constexpr Nanoseconds kBound = 20 * kSecond;
constexpr std::size_t kBytes = 1 << 16;
constexpr std::size_t kStride = 1024;

// One list; only its last request is told of. Each has 4 bytes that say which it is.
void post_list(Side& side, ibv_qp* qp, std::uint32_t count = kList) {
  Memory& memory = side.memory(kBytes);
  std::vector<ibv_sge> segments;
  std::vector<ibv_send_wr> requests(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::memcpy(memory.bytes() + std::size_t{i} * 16, &i, sizeof i);
    segments.push_back(memory.segment(std::size_t{i} * 16, i % 2 == 0 ? 16 : 4));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    requests[i].opcode = IBV_WR_SEND;
    requests[i].sg_list = &segments[i];
    requests[i].num_sge = 1;
    requests[i].next = i + 1 < count ? &requests[i + 1] : nullptr;
    if (i + 1 == count) requests[i].send_flags = IBV_SEND_SIGNALED;
  }
  ibv_send_wr* bad = nullptr;
  require(ibv_post_send(qp, requests.data(), &bad) == 0, "posted");
}

void be_sender(Wire& wire, const char* variable, const std::string& appointment) {
  if (variable != nullptr) setenv(variable, appointment.c_str(), 1);
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  wire.send(side.endpoint(qp));
  side.connect(qp, wire.receive<Endpoint>());
  wire.meet();
  post_list(side, qp);
  side.expect(IBV_WC_SUCCESS);
  wire.meet();
}

// Who has receives for a list, and another queue pair that completes into the same queue.
class Lists : public testing::Test {
 protected:
  void start(const char* variable, const std::string& appointment) {
    sender_.emplace([=](Wire& wire) { be_sender(wire, variable, appointment); });
    other_.emplace([](Wire& wire) { be_sender(wire, nullptr, ""); });
    memory_ = &side_.memory(2 * kList * kStride);
    qp_ = connect(*sender_, 0);
    second_ = connect(*other_, kList);
    sender_->wire().meet();
  }
  ibv_qp* connect(Child& child, std::size_t first) {
    ibv_qp* qp = side_.queue_pair(IBV_QPT_RC);
    const auto there = child.wire().receive<Endpoint>();
    child.wire().send(side_.endpoint(qp));
    side_.connect(qp, there);
    for (std::size_t i = 0; i < kList; ++i) {
      side_.receive(qp, {memory_->segment((first + i) * kStride, kStride)}, first + i);
    }
    return qp;
  }
  // Takes completions, which succeed, until one sender's list is complete or time is up.
  void take(const std::uint32_t& from, Nanoseconds bound = kBound) { take(from, kList, bound); }
  // The same for so many of the stopped one's.
  void take_senders(std::uint32_t count) { take(from_sender_, count, kBound); }
  void take(const std::uint32_t& from, std::uint32_t count, Nanoseconds bound) {
    const Nanoseconds start = now();
    while (from < count && now() - start < bound && !HasFailure()) {
      ibv_wc one{};
      if (ibv_poll_cq(side_.queue(), 1, &one) == 1) take(one);
    }
  }
  void take(const ibv_wc& one) {
    ASSERT_EQ(one.status, IBV_WC_SUCCESS);
    const bool is_senders = one.qp_num == qp_->qp_num;
    std::uint32_t& next = is_senders ? from_sender_ : from_other_;
    ASSERT_EQ(one.wr_id, (is_senders ? 0 : kList) + next) << "in order, each once";
    std::uint32_t said = 0;
    std::memcpy(&said, memory_->bytes() + one.wr_id * kStride, sizeof said);
    ASSERT_EQ(said, next);
    ++next;
  }
  // The other one's list goes through the same completion queue at once.
  void let_the_other_send() {
    other_->wire().meet();
    take(from_other_);
    EXPECT_EQ(from_other_, kList);
    other_->wire().meet();
    other_->finish();
  }

  Side side_;
  std::optional<Child> sender_, other_;
  Memory* memory_ = nullptr;
  ibv_qp *qp_ = nullptr, *second_ = nullptr;
  std::uint32_t from_sender_ = 0, from_other_ = 0;
};

TEST_F(Lists, OfShortSendsArriveInOrderEachOnce) {
  start(nullptr, "");
  take(from_sender_);
  EXPECT_EQ(from_sender_, kList);
  sender_->wire().meet();
  sender_->finish();
  let_the_other_send();
}

struct Moment {
  const char* point;
  std::uint32_t passage;
  std::uint32_t completed;  // by then
};

std::string name_of(const testing::TestParamInfo<Moment>& info) {
  std::string name = info.param.point + std::to_string(info.param.passage);
  std::erase(name, '_');
  return name;
}

class ListsAt : public Lists, public testing::WithParamInterface<Moment> {
 protected:
  void SetUp() override {
#ifndef GDR_FAULT_HOOKS
    GTEST_SKIP() << "built without fault hooks";
#endif
  }
  std::string appointment() const {
    return GetParam().point + (":" + std::to_string(GetParam().passage));
  }
  void await(int how) {
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(sender_->pid()), &info, how | WNOWAIT), 0);
  }
};

TEST_P(ListsAt, DeathOfTheirSenderLeavesWhatWasCompletedAndHoldsUpNobody) {
  start("GDR_KILL", appointment());
  await(WEXITED);
  let_the_other_send();
  take_senders(GetParam().completed);
  EXPECT_EQ(from_sender_, GetParam().completed);
  const Nanoseconds start = now();
  EXPECT_EQ(ibv_destroy_qp(qp_), 0);
  EXPECT_LT(now() - start, kBound);
  sender_->kill();
}

TEST_P(ListsAt, AStopOfTheirSenderHoldsUpNobodyAndRepeatsNothing) {
  start("GDR_STOP", appointment());
  await(WSTOPPED);
  let_the_other_send();
  take_senders(GetParam().completed);
  EXPECT_EQ(from_sender_, GetParam().completed);
  kill(sender_->pid(), SIGCONT);
  take(from_sender_, 2 * kBound);
  EXPECT_EQ(from_sender_, kList);
  sender_->wire().meet();
  sender_->finish();
  side_.expect_quiet();
}

constexpr Moment kMoments[] = {
    {"pushing_receive", 1, 0},
    {"pushing_receive", 7, 0},
    {"pushing_receive", kTogether, 0},
    {"pushing_receive", kTogether + 1, kTogether},
    {"pushing_receive", kList, kTogether},
    {"receive_taken", 1, 0},
    {"receive_taken", 2, kTogether},
    {"receive_counted", 1, kTogether},
    {"receive_counted", 2, kList},
    {"receive_pushed", 1, kTogether},
    {"receive_pushed", 2, kList},
};
INSTANTIATE_TEST_SUITE_P(AtEachPoint, ListsAt, testing::ValuesIn(kMoments), name_of);

}  // namespace
}  // namespace gdr::test
