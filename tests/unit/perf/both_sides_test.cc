// Client and session in one process, over one socket pair: every loop of the measurement with the
// threads of both sides, so that the sanitizers see what these share.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "perf/client.h"
#include "perf/session.h"
#include "soft_devices.h"

namespace gdr::perf {
namespace {

class BothSides : public testing::Test {
 protected:
  BothSides() {
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    client_.emplace(UniqueFd(sockets[0]));
    server_.emplace(UniqueFd(sockets[1]));
    for (const char* name : {"soft0", "soft1"}) {
      told_.side.ports.emplace_back().nic = name;
      told_.facts.nics.emplace_back().name = name;
    }
    serving_ = std::thread([this] {
      ended_ = Session(*server_, two_soft_ports(), told_, no_, terms_, stage_).serve();
    });
  }
  ~BothSides() override {
    client_.reset();
    serving_.join();
    EXPECT_TRUE(ended_) << ended_.error().message;
  }
  // Two sizes of each load, so that the second one begins where the first has left everything.
  void expect_right(const std::vector<Load>& loads) {
    Client client(*client_, two_soft_ports(), "1.2.3", {}, no_);
    const Result<void> met = client.greet();
    ASSERT_TRUE(met) << met.error().message;
    const Result<void> begun = client.begin({});
    ASSERT_TRUE(begun) << begun.error().message;
    for (const Load& load : loads) {
      const std::vector<std::uint64_t> sizes = is_atomic(load.operation)
                                                   ? std::vector<std::uint64_t>{8, 8}
                                                   : std::vector<std::uint64_t>{1, 1000};
      std::size_t rows = 0;
      const Result<void> done = client.run(
          {load, sizes, {.slice_messages = 20, .slices = 2}},
          [&](const Row& row) { ++rows, expect_right(row); }, [](const Load&) {});
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(rows, 2u);
    }
  }
  static void expect_right(const Row& row) {
    const std::string what = std::string(name_of(row.load.operation)) + " over " +
                             name_of(row.load.transport) + ", " + name_of(row.load.measure);
    EXPECT_EQ(row.problem, "") << what;
    EXPECT_GT(row.messages, 0u) << what;
    if (!row.load.check) return;
    EXPECT_EQ(row.checked->wrong, 0u) << what << ": " << row.checked->first;
    EXPECT_GE(row.checked->messages, 40u) << what;
  }

 private:
  static const Ports& two_soft_ports() {
    static const Ports ports = *open_ports({soft_names("soft0"), soft_names("soft1")});
    return ports;
  }
  const std::atomic<bool> no_{false};
  const Terms terms_;
  Stage stage_;
  Description told_;
  std::optional<Control> server_, client_;
  Result<void> ended_;
  std::thread serving_;
};

Load load_of(Operation operation, Measure measure, Transport transport = Transport::kRc) {
  Load load;
  load.operation = operation;
  load.measure = measure;
  load.transport = transport;
  load.depth = 16;
  load.ports = measure == Measure::kLatency ? 1 : 2;
  load.threads = load.queue_pairs = 2;
  return load;
}

constexpr Operation kOperations[] = {Operation::kWrite,       Operation::kWriteWithImmediate,
                                     Operation::kRead,        Operation::kSend,
                                     Operation::kFetchAndAdd, Operation::kCompareAndSwap};

TEST_F(BothSides, MeasureBandwidthOneWayAndBothWays) {
  std::vector<Load> loads;
  for (const Operation operation : kOperations) {
    loads.push_back(load_of(operation, Measure::kBandwidth));
    loads.push_back(loads.back());
    loads.back().both_ways = true;
  }
  expect_right(loads);
}

TEST_F(BothSides, CompareEveryByteOneWayAndBothWays) {
  std::vector<Load> loads;
  for (const Operation operation : kOperations) {
    loads.push_back(load_of(operation, Measure::kBandwidth));
    loads.back().check = true;
    loads.back().queue_pairs = 3;
    loads.push_back(loads.back());
    loads.back().both_ways = true;
  }
  expect_right(loads);
}

TEST_F(BothSides, CompareEveryByteOfOtherTransports) {
  std::vector<Load> loads;
  for (const auto& [transport, operation] : {std::pair{Transport::kUc, Operation::kWrite},
                                             {Transport::kUc, Operation::kSend},
                                             {Transport::kUd, Operation::kSend},
                                             {Transport::kXrc, Operation::kRead},
                                             {Transport::kXrc, Operation::kSend}}) {
    loads.push_back(load_of(operation, Measure::kBandwidth, transport));
    loads.back().check = loads.back().both_ways = true;
  }
  expect_right(loads);
}

// With what makes threads wait for each other: events, and what is shared.
TEST_F(BothSides, MeasureWithEventsAndSharedReceives) {
  std::vector<Load> loads;
  for (const bool check : {false, true}) {
    loads.push_back(load_of(Operation::kSend, Measure::kRate));
    loads.back().shared_receives = loads.back().both_ways = true;
    loads.back().check = check;
    loads.push_back(load_of(Operation::kWrite, Measure::kBandwidth));
    loads.back().events = loads.back().both_ways = true;
    loads.back().check = check;
  }
  expect_right(loads);
}

// But for what polls memory on purpose, which is a race by its nature.
TEST_F(BothSides, MeasureLatency) {
  std::vector<Load> loads;
  for (const Operation operation : kOperations) {
    loads.push_back(load_of(operation, Measure::kLatency));
    loads.back().check = true;
  }
  loads.push_back(load_of(Operation::kSend, Measure::kLatency));
  loads.push_back(load_of(Operation::kRead, Measure::kLatency));
  expect_right(loads);
}

}  // namespace
}  // namespace gdr::perf
