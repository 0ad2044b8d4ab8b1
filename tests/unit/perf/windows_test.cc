#include "perf/cases/windows.h"

#include <gtest/gtest.h>

#include "soft_devices.h"

namespace gdr::perf {
namespace {

constexpr std::uint64_t kSize = 64;
constexpr Window kFirst{0, 0, 4}, kSecond{0, 4, 4};

// One side of a row, whose other side the test is.
class WindowsTest : public testing::Test {
 protected:
  Task& side(bool is_client, Operation operation, bool both_ways,
             Transport transport = Transport::kRc) {
    Load load;
    load.operation = operation;
    load.transport = transport;
    load.both_ways = both_ways;
    load.check = true;
    load.depth = 4;
    Result<std::unique_ptr<Station>> made =
        Station::create(soft_devices(), {load, load.near, kSize, IBV_MTU_1024, 1});
    if (!made) ADD_FAILURE() << made.error().message;
    station_ = *std::move(made);
    task_.reset(new Task{.station = *station_,
                         .clock = clock_,
                         .size = kSize,
                         .timing = {},
                         .seed = 77,
                         .is_client = is_client,
                         .sends = is_client || both_ways});
    contents_.emplace(*task_);
    contents_->clear(outcome_);
    return *task_;
  }
  bool is_filled(std::uint64_t address) const {
    const auto* bytes = reinterpret_cast<const std::byte*>(address);
    return std::any_of(bytes, bytes + kSize, [](std::byte byte) { return byte != std::byte{}; });
  }
  // What a side fills before a window: "", "outgoing", "incoming".
  std::string filled(bool is_client, Operation operation, bool both_ways) {
    Task& task = side(is_client, operation, both_ways);
    EXPECT_TRUE(fill_window(task, *contents_, kFirst, outcome_));
    const Station::Queue& queue = station_->queues()[0];
    return std::string(is_filled(queue.outgoing) ? "outgoing" : "") +
           (is_filled(queue.incoming) ? "incoming" : "");
  }
  // How many messages a side compares after a window.
  std::uint64_t compared(bool is_client, Operation operation, bool both_ways) {
    Task& task = side(is_client, operation, both_ways);
    Outcome seen;
    EXPECT_TRUE(compare_window(task, *contents_, kFirst, seen));
    return seen.checked;
  }

  const TickClock clock_ = TickClock::calibrate();
  std::unique_ptr<Station> station_;
  std::unique_ptr<Task> task_;
  std::optional<Contents> contents_;
  Outcome outcome_;
};

constexpr bool kClient = true, kServer = false, kOneWay = false, kBothWays = true;

TEST_F(WindowsTest, AreFilledWhereTheDataComesFrom) {
  for (const Operation operation :
       {Operation::kWrite, Operation::kWriteWithImmediate, Operation::kSend}) {
    EXPECT_EQ(filled(kClient, operation, kOneWay), "outgoing");
    EXPECT_EQ(filled(kServer, operation, kOneWay), "");
    EXPECT_EQ(filled(kServer, operation, kBothWays), "outgoing");
  }
  EXPECT_EQ(filled(kClient, Operation::kRead, kOneWay), "");
  EXPECT_EQ(filled(kServer, Operation::kRead, kOneWay), "incoming");
  EXPECT_EQ(filled(kClient, Operation::kRead, kBothWays), "incoming");
  EXPECT_EQ(filled(kClient, Operation::kFetchAndAdd, kBothWays), "");
}

TEST_F(WindowsTest, AreComparedWhereTheDataLiesUnlessThatWasDoneAsItCame) {
  for (const Operation operation : {Operation::kWriteWithImmediate, Operation::kSend}) {
    EXPECT_EQ(compared(kServer, operation, kOneWay), 0u);
    EXPECT_EQ(compared(kClient, operation, kBothWays), 0u);
  }
  EXPECT_EQ(compared(kClient, Operation::kWrite, kOneWay), 0u);
  EXPECT_EQ(compared(kServer, Operation::kWrite, kOneWay), 4u);
  EXPECT_EQ(compared(kClient, Operation::kWrite, kBothWays), 4u);
  for (const Operation operation : {Operation::kRead, Operation::kCompareAndSwap}) {
    EXPECT_EQ(compared(kClient, operation, kOneWay), 4u);
    EXPECT_EQ(compared(kServer, operation, kOneWay), 0u);
    EXPECT_EQ(compared(kServer, operation, kBothWays), 4u);
  }
}

TEST_F(WindowsTest, AreAwaitedUntilAllOfThemHaveCome) {
  side(kServer, Operation::kSend, kOneWay);
  Arrivals arrivals(*station_);
  std::uint64_t come = 0;
  const auto one_more = [&] { return std::optional(Arrived{++come, now()}); };
  EXPECT_EQ(*arrivals.await(kFirst, one_more), 0u);
  EXPECT_EQ(come, 4u);
  EXPECT_EQ(*arrivals.await(kSecond, one_more), 0u);
  EXPECT_EQ(come, 8u);
  EXPECT_EQ(*arrivals.await({0, 8, 4}, [] { return std::nullopt; }), 0u) << "nobody waits for them";
}

TEST_F(WindowsTest, DoNotWaitASecondTimeForWhatDatagramsHaveLost) {
  side(kServer, Operation::kSend, kOneWay, Transport::kUd);
  Arrivals arrivals(*station_);
  std::uint64_t come = 3;
  const auto look = [&] { return std::optional(Arrived{come, now()}); };
  EXPECT_EQ(*arrivals.await(kFirst, look), 1u);
  come = 7;
  EXPECT_EQ(*arrivals.await(kSecond, look), 0u);
}

TEST_F(WindowsTest, AreNotLostBeforeSomebodyHasLookedForThem) {
  side(kServer, Operation::kSend, kOneWay, Transport::kUd);
  Arrivals arrivals(*station_);
  const Nanoseconds began = now();
  const auto late = [&] {
    const bool looked = now() > began + 300 * kMillisecond;
    return std::optional(Arrived{looked ? 4u : 3u, looked ? now() : began});
  };
  EXPECT_EQ(*arrivals.await(kFirst, late), 0u);
}

}  // namespace
}  // namespace gdr::perf
