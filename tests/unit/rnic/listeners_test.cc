// Who listens for a service id, between two processes that do not know each other from the start.
#include "rnic/listeners.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "idle_path.h"
#include "rnic/device_table.h"
#include "soon.h"

namespace gdr::rnic {
namespace {

constexpr Listener kListener{.device = 0, .service_id = 0x1064321, .owner = 7};

// A process with one neighbour, which it has met from some time on.
class Acquainted : public test::IdlePath {
 public:
  bool any_segment(const std::function<bool(Segment&)>& holds) override {
    return neighbour != nullptr && has_met && holds(*neighbour);
  }
  bool knows_everyone() override {
    ++asked;
    return has_met;
  }

  Segment* neighbour = nullptr;
  std::atomic<bool> has_met{true};
  std::atomic<int> asked{0};
};

struct Process {
  explicit Process(std::uint32_t slot)
      : segment(*Segment::create(make_token(slot, 1), *parse_devices("soft0/ip=127.77.0.1"))),
        table(*segment, neighbours) {}
  std::unique_ptr<Segment> segment;
  Acquainted neighbours;
  ListenerTable table;
};

class Listeners : public testing::Test {
 protected:
  Listeners() {
    low.neighbours.neighbour = high.segment.get();
    high.neighbours.neighbour = low.segment.get();
  }
  Process low{1}, high{2};  // of two that claim at once, who has the lower token waits
};

TEST_F(Listeners, AreOneForEachServiceId) {
  ASSERT_TRUE(low.table.add(kListener));
  EXPECT_EQ(low.table.add(kListener).error().code, EADDRINUSE);
  EXPECT_EQ(high.table.add(kListener).error().code, EADDRINUSE);
  ASSERT_TRUE(low.table.remove(kListener));
  EXPECT_EQ(low.table.remove(kListener).error().code, EINVAL);
  EXPECT_TRUE(high.table.add(kListener)) << "who lingers keeps nobody from it";
}

TEST_F(Listeners, BeginOnlyOnceTheirProcessHasMetEveryone) {
  ASSERT_TRUE(low.table.add(kListener));
  high.neighbours.has_met = false;
  std::atomic<bool> decided{false};
  int error = 0;
  std::thread adds([&] {
    const Result<void> added = high.table.add(kListener);
    error = added ? 0 : added.error().code;
    decided = true;
  });
  while (high.neighbours.asked < 3) std::this_thread::yield();
  EXPECT_FALSE(decided) << "it does not decide before";
  high.neighbours.has_met = true;
  adds.join();
  EXPECT_EQ(error, EADDRINUSE);
}

// Else two of many that claim at once would both listen, and a request would be refused whose
// listener is just being taken away.
TEST_F(Listeners, AreNeverGoneWhileTheirStateChanges) {
  constexpr int kRounds = 20'000;
  ASSERT_TRUE(low.table.add(kListener));
  std::atomic<bool> is_over{false};
  std::atomic<int> looks{0}, gone{0};
  std::thread watches([&] {
    const auto& address = low.segment->header().devices[0].addresses[kOwnAddress];
    while (!is_over) {
      ++looks;
      if (find_listener(*low.segment, address, kListener.service_id) == ListenerState::kNone)
        ++gone;
    }
  });
  int refused = 0;
  for (int i = 0; i < kRounds || looks < kRounds; ++i) {
    if (!low.table.remove(kListener) || !low.table.add(kListener)) ++refused;
  }
  is_over = true;
  watches.join();
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(gone, 0) << "of " << looks << " looks";
}

// A process that is stopped is not met, and holds up nobody for ever.
TEST_F(Listeners, BeginAfterAWhileThoughNotEveryoneAnswers) {
  high.neighbours.has_met = false;
  const Nanoseconds start = now();
  EXPECT_TRUE(high.table.add(kListener));
  EXPECT_GE(now() - start, kSecond);
  EXPECT_LT(now() - start, test::kLastResort);
}

}  // namespace
}  // namespace gdr::rnic
