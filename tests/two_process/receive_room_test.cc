// A receive whose segments reach beyond their region: what counts is what the message takes, as on
// NICs.
#include <gtest/gtest.h>

#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 8192;
constexpr std::size_t kBeyond = 4096;  // that a segment goes on behind its region
// Carried beside a completion, and copied.
constexpr std::size_t kRooms[] = {200, 3000};

enum class Receives { kOwn, kShared };

// In the process of the test: a queue pair that receives.
struct Receiver {
  Receiver(Wire& wire, Receives receives) {
    ibv_srq_init_attr init{};
    init.attr = {.max_wr = 16, .max_sge = 4, .srq_limit = 0};
    if (receives == Receives::kShared) srq = ibv_create_srq(side.domain(), &init);
    qp = side.queue_pair(IBV_QPT_RC, 64, false, nullptr, srq);
    wire.send(side.endpoint(qp));
    wire.send(memory.remote());
    side.connect(qp, wire.receive<Endpoint>());
    memory.fill(0x77);
    wire.meet();
  }
  // The last `room` bytes of the region, and what lies behind it.
  void post(std::size_t room, std::vector<ibv_sge> more = {}) {
    std::vector<ibv_sge> segments = {memory.segment(kBytes - room, room + kBeyond)};
    segments.insert(segments.end(), more.begin(), more.end());
    if (srq != nullptr) return side.receive(srq, segments);
    side.receive(qp, segments);
  }

  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_srq* srq = nullptr;
  ibv_qp* qp = nullptr;
};

void send_each(Wire& wire, const std::vector<std::size_t>& sizes, ibv_wc_status last) {
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, wire);
  for (const std::size_t size : sizes) {
    memory.fill_pattern(size, 0, size);
    wire.meet();
    side.send(qp, memory, 0, size);
    side.expect(size == sizes.back() ? last : IBV_WC_SUCCESS);
  }
  wire.meet();
}

void check_what_fits(Receives receives, std::size_t room) {
  const std::vector<std::size_t> sizes = {0, 1, room - 1, room};
  Child child([&](Wire& wire) { send_each(wire, sizes, IBV_WC_SUCCESS); });
  Receiver receiver(child.wire(), receives);
  for (const std::size_t size : sizes) {
    receiver.memory.fill(0x77);
    // A key of nobody's behind it does not matter either.
    receiver.post(room, {{0x1000, 64, 0x5555}});
    child.wire().meet();
    EXPECT_EQ(receiver.side.expect(IBV_WC_SUCCESS).byte_len, size);
    EXPECT_EQ(receiver.memory.first_not_pattern(size, kBytes - room, size), -1) << size;
    EXPECT_EQ(receiver.memory.first_not(0x77, 0, kBytes - room), -1);
    EXPECT_EQ(receiver.memory.first_not(0x77, kBytes - room + size, room - size), -1);
  }
  child.wire().meet();
  child.finish();
}

void check_what_reaches_beyond(Receives receives, std::size_t room) {
  Child child([&](Wire& wire) { send_each(wire, {room + 1}, IBV_WC_REM_OP_ERR); });
  Receiver receiver(child.wire(), receives);
  receiver.post(room);
  child.wire().meet();
  receiver.side.expect(IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(receiver.memory.first_not(0x77, 0, kBytes - room), -1);
  child.wire().meet();
  child.finish();
}

TEST(ReceiveRoom, ASegmentMayBeLongerThanItsRegionIfTheMessageIsNot) {
  for (const std::size_t room : kRooms) check_what_fits(Receives::kOwn, room);
}
TEST(ReceiveRoom, ASharedReceivesSegmentMayBeLongerThanItsRegionIfTheMessageIsNot) {
  for (const std::size_t room : kRooms) check_what_fits(Receives::kShared, room);
}
TEST(ReceiveRoom, AMessageThatReachesBeyondTheRegionIsAProtectionError) {
  for (const std::size_t room : kRooms) check_what_reaches_beyond(Receives::kOwn, room);
}
TEST(ReceiveRoom, AMessageThatReachesBeyondASharedReceivesRegionIsAProtectionError) {
  for (const std::size_t room : kRooms) check_what_reaches_beyond(Receives::kShared, room);
}

TEST(ReceiveRoom, ADatagramTakesItsHeaderAndItsBytes) {
  constexpr std::size_t kGrh = 40, kRoom = kGrh + 500;
  Child child([](Wire& wire) {
    be_target(wire, {.type = IBV_QPT_UD, .bytes = kBytes}, [](TargetSide t) {
      for (const std::size_t size : {std::size_t{0}, kRoom - kGrh}) {
        t.memory.fill(0x77);
        t.side.receive(t.qp, {t.memory.segment(kBytes - kRoom, kRoom + kBeyond)});
        t.wire.meet();
        require(t.side.expect(IBV_WC_SUCCESS).byte_len == kGrh + size, "its length");
        const std::int64_t wrong = t.memory.first_not_pattern(1, kBytes - kRoom + kGrh, size);
        require(wrong == -1, "every byte");
        t.wire.meet();
      }
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  memory.fill_pattern(1, 0, kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
  Endpoint target{};
  connect_to_target(side, qp, child.wire(), {}, &target);
  ibv_ah* handle = side.address_handle(target);
  for (const std::size_t size : {std::size_t{0}, kRoom - kGrh}) {
    child.wire().meet();
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.ud = {handle, target.number, kQueueKey};
    side.post(qp, request, {memory.segment(0, size)});
    side.expect(IBV_WC_SUCCESS);
    child.wire().meet();
  }
  child.finish();
}

}  // namespace
}  // namespace gdr::test
