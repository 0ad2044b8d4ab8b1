// Many queue pairs, many processes, many turns: everything works, and nothing grows.
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "alone.h"
#include "connection.h"
#include "open_descriptors.h"

namespace gdr::test {
namespace {

constexpr int kQueuePairs = 4096;
constexpr int kProcesses = 64;
constexpr int kTurns = 10'000;

// What is shared with other processes is not counted: its tables have a fixed size, and numbers
// come round late, so that it is touched little by little.
struct Use {
  long mappings = 0, kilobytes = 0;
  int descriptors = 0;
};
Use use_now() {
  Use use;
  std::string line;
  for (std::ifstream maps("/proc/self/maps"); std::getline(maps, line);) ++use.mappings;
  for (std::ifstream status("/proc/self/status"); std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) use.kilobytes = std::stol(line.substr(8));
  }
  use.descriptors = open_descriptors();
  return use;
}
void expect_no_growth(const Use& before, const Use& after) {
  EXPECT_LE(after.descriptors, before.descriptors);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps what was freed for a while
  EXPECT_LE(after.mappings, before.mappings + 8);
  EXPECT_LE(after.kilobytes, before.kilobytes + 512);
#endif
}

using Endpoints = std::array<Endpoint, kQueuePairs>;

struct Queues {
  std::vector<ibv_qp*> pairs;
  Endpoints endpoints;

  explicit Queues(Side& side) {
    for (Endpoint& endpoint : endpoints) {
      pairs.push_back(side.queue_pair(IBV_QPT_RC, 1));
      endpoint = side.endpoint(pairs.back());
    }
  }
  void connect(Side& side, const Endpoints& others) const {
    for (std::size_t i = 0; i < pairs.size(); ++i) side.connect(pairs[i], others[i]);
  }
};

TEST(Load, FourThousandQueuePairsBetweenTwoProcessesEachReachTheirOwn) {
  Child child([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(kQueuePairs * 8);
    memory.fill(0);
    wire.send(memory.remote());
    const Queues queues(side);
    wire.send(queues.endpoints);
    queues.connect(side, wire.receive<Endpoints>());
    wire.meet();
    wire.meet();
    for (std::size_t i = 0; i < kQueuePairs; ++i) {
      require(memory.first_not_pattern(i, i * 8, 8) == -1, "number " + std::to_string(i));
    }
  });
  Side side(0, 2 * kQueuePairs);
  Memory& memory = side.memory(kQueuePairs * 8);
  const auto remote = child.wire().receive<Remote>();
  const Queues queues(side);
  const auto others = child.wire().receive<Endpoints>();
  child.wire().send(queues.endpoints);
  queues.connect(side, others);
  for (std::size_t i = 0; i < kQueuePairs; ++i) memory.fill_pattern(i, i * 8, 8);
  child.wire().meet();
  for (std::size_t i = 0; i < kQueuePairs; ++i) {
    side.write(queues.pairs[i], memory, i * 8, 8, remote, i * 8);
  }
  for (int i = 0; i < kQueuePairs; ++i) side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.finish();
}

// Each sends to the next, all at once.
TEST(Load, SixtyFourProcessesInARingReceiveFromTheirNeighbours) {
  constexpr int kMessages = 50;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(std::make_unique<Child>([i](Wire& wire) {
      Side side;
      Memory& memory = side.memory(1 << 16);
      ibv_qp* sends = side.queue_pair(IBV_QPT_RC);
      ibv_qp* receives = side.queue_pair(IBV_QPT_RC);
      for (int j = 0; j < kMessages; ++j) side.receive(receives, {memory.segment(0, 4096)});
      wire.send(side.endpoint(sends));
      wire.send(side.endpoint(receives));
      const auto next = wire.receive<Endpoint>(), before = wire.receive<Endpoint>();
      side.connect(sends, next);
      side.connect(receives, before);
      wire.meet();
      memory.fill_pattern(static_cast<std::uint64_t>(i), 8192, 3000);
      for (int j = 0; j < kMessages; ++j) side.send(sends, memory, 8192, 3000);
      for (int j = 0; j < 2 * kMessages; ++j) side.expect(IBV_WC_SUCCESS);
      const int neighbour = (i + kProcesses - 1) % kProcesses;
      require(memory.first_not_pattern(static_cast<std::uint64_t>(neighbour), 0, 3000) == -1,
              "the neighbour's bytes");
      wire.meet();
    }));
  }
  std::vector<Endpoint> sends, receives;
  for (const auto& child : children) {
    sends.push_back(child->wire().receive<Endpoint>());
    receives.push_back(child->wire().receive<Endpoint>());
  }
  for (std::size_t i = 0; i < kProcesses; ++i) {
    children[i]->wire().send(receives[(i + 1) % kProcesses]);
    children[i]->wire().send(sends[(i + kProcesses - 1) % kProcesses]);
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& child : children) child->wire().send('m');
    for (const auto& child : children) EXPECT_EQ(child->wire().receive<char>(), 'm');
  }
  for (const auto& child : children) child->finish();
}

class LoadAlone : public AloneTest {};

TEST_F(LoadAlone, TenThousandDevicesOpenedAndClosedLeaveNothing) {
  const auto turn = [] {
    Side side(0, 16, true);
    Memory& memory = side.memory(4096);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 4);
    side.connect(qp, side.endpoint(qp));
    side.receive(qp, {memory.segment(0, 64)});
    side.send(qp, memory, 64, 8);
    side.expect(IBV_WC_SUCCESS);
    side.expect(IBV_WC_SUCCESS);
  };
  for (int i = 0; i < 200; ++i) turn();
  const Use before = use_now();
  for (int i = 0; i < kTurns; ++i) turn();
  expect_no_growth(before, use_now());
}

TEST_F(LoadAlone, TenThousandRegistrationsLeaveNothing) {
  Side side;
  std::vector<std::uint8_t> bytes(1 << 20);
  const auto turn = [&](int i) {
    const std::size_t length = 1 + static_cast<std::size_t>(i) * 7919 % bytes.size();
    ibv_mr* region = ibv_reg_mr(side.domain(), bytes.data(), length, kAllAccess);
    require(region != nullptr && ibv_dereg_mr(region) == 0, "registered and deregistered");
  };
  for (int i = 0; i < 200; ++i) turn(i);
  const Use before = use_now();
  for (int i = 0; i < kTurns; ++i) turn(i);
  expect_no_growth(before, use_now());
}

// Processes that come and go do not stay in the memory of one that stays.
TEST_F(LoadAlone, AHundredPeersThatComeAndGoLeaveNothing) {
  Side* side = nullptr;
  const auto turn = [&] {
    Child child([](Wire& wire) { be_target(wire, {}, [](TargetSide t) { t.wire.meet(); }); });
    if (side == nullptr) side = new Side;  // after the first child has been made
    Memory& memory = side->memory(4096);
    ibv_qp* qp = side->queue_pair(IBV_QPT_RC, 4);
    const Remote remote = connect_to_target(*side, qp, child.wire());
    side->write(qp, memory, 0, 64, remote);
    side->expect(IBV_WC_SUCCESS);
    child.wire().meet();
    child.finish();
    ibv_destroy_qp(qp);
    memory.deregister();
  };
  for (int i = 0; i < 20; ++i) turn();
  const Use before = use_now();
  for (int i = 0; i < 100; ++i) turn();
  // The service thread looks for the dead once a second.
  EXPECT_TRUE(soon([&] {
    const Use after = use_now();
    return after.descriptors <= before.descriptors + 8 && after.mappings <= before.mappings + 20;
  }));
  delete side;
}

}  // namespace
}  // namespace gdr::test
