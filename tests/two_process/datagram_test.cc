// Unreliable datagrams and raw frames between processes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "base/clock.h"
#include "connection.h"
#include "stopped.h"

namespace gdr::test {
namespace {

constexpr std::size_t kGrh = 40;
constexpr std::uint64_t kEach = 1000, kSenders = 6;
constexpr std::uint64_t kAtOnce = 20;  // of each sender: all together fewer than there are receives

void post_datagram(Side& side, ibv_qp* qp, ibv_ah* to, std::uint32_t number, Memory& memory,
                   std::size_t length, std::uint32_t immediate) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.send_flags = IBV_SEND_SIGNALED;
  request.imm_data = immediate;
  request.wr.ud.ah = to;
  request.wr.ud.remote_qpn = number;
  request.wr.ud.remote_qkey = kQueueKey;
  side.post(qp, request, {memory.segment(0, length)});
}

TEST(Datagrams, ArriveWithTheirHeaderSourceAndEveryByte) {
  Child child([](Wire& wire) {
    be_target(wire, {.type = IBV_QPT_UD}, [](TargetSide t) {
      for (const std::size_t size : {0, 1, 63, 1000, 4095, 4096}) {
        t.memory.fill(0xa5);
        t.side.receive(t.qp, {t.memory.segment(1, kGrh + 4096)}, size);
        t.wire.meet();
        const ibv_wc completion = t.side.expect(IBV_WC_SUCCESS);
        require(completion.byte_len == kGrh + size && (completion.wc_flags & IBV_WC_GRH) != 0,
                "length and header");
        t.wire.send(completion.src_qp);
        const std::uint8_t* ip = t.memory.bytes() + 1 + 20;
        require(ip[0] == 0x45 && ip[9] == 17, "an IPv4 header where the GRH would end");
        require(load_be16(ip + 2) == 20 + 8 + 12 + 8 + 4 + size, "its total length");
        require(t.memory.first_not_pattern(size, 1 + kGrh, size) == -1, "every byte");
        require(t.memory.first_not(0xa5, 1 + kGrh + size, 5000) == -1, "and no more");
        t.wire.meet();
      }
    });
  });
  Side side;
  Memory& memory = side.memory(8192);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
  Endpoint target{};
  connect_to_target(side, qp, child.wire(), {}, &target);
  ibv_ah* handle = side.address_handle(target);
  for (const std::size_t size : {0, 1, 63, 1000, 4095, 4096}) {
    memory.fill_pattern(size, 0, size);
    child.wire().meet();
    post_datagram(side, qp, handle, target.number, memory, size, 1);
    side.expect(IBV_WC_SUCCESS);
    EXPECT_EQ(child.wire().receive<std::uint32_t>(), qp->qp_num);
    child.wire().meet();
  }
  child.finish();
}

// Waits for one datagram, which was on its way before this process had met its sender.
void take_one(Wire& wire) {
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
  side.connect(qp);
  side.receive(qp, {memory.segment(0, kGrh + 100)}, 1);
  wire.send(side.endpoint(qp));
  wire.receive<char>();
  ibv_wc completion{};
  wire.send(static_cast<int>(ibv_poll_cq(side.queue(), 1, &completion)));
}

// In a process of its own, which begins when the receiver is stopped, so that they have not met.
Child sender_of(const Endpoint& target, int count) {
  return Child([target, count](Wire& wire) {
    Side side;
    Memory& memory = side.memory(4096);
    ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
    side.connect(qp);
    ibv_ah* handle = side.address_handle(target);
    for (int i = 0; i < count; ++i) {
      post_datagram(side, qp, handle, target.number, memory, 100, 1);
    }
    wire.send('p');
    for (int i = 0; i < count; ++i) side.expect(IBV_WC_SUCCESS);
    wire.send('e');
  });
}

// As a NIC delivers one to a process that has no time. Stopped for longer than a call waits for its
// answer and shorter than a silent process is waited for, which a busy machine can spoil.
TEST(UnmetDatagrams, ReachAProcessThatIsSlowToMeetTheirSender) {
  int received = 0;
  for (int attempt = 0; attempt < 5 && received == 0; ++attempt) {
    Child child(take_one);
    const auto target = child.wire().receive<Endpoint>();
    std::optional<Stopped> stopped(child.pid());
    Child sender = sender_of(target, 1);
    sender.wire().receive<char>();
    usleep(600'000);
    stopped.reset();
    sender.wire().receive<char>();
    child.wire().send('x');
    received = child.wire().receive<int>();
    sender.finish();
    child.finish();
  }
  EXPECT_EQ(received, 1);
}

// The first waits for two seconds; were each to wait, these would take longer than the limit.
TEST(UnmetDatagrams, AreNotKeptForAProcessThatStaysStopped) {
  constexpr int kCount = 50;
  Child child(take_one);
  const auto target = child.wire().receive<Endpoint>();
  std::optional<Stopped> stopped(child.pid());
  const Nanoseconds begin = now();
  Child sender = sender_of(target, kCount);
  for (int i = 0; i < 2; ++i) sender.wire().receive<char>();
  EXPECT_LT(now() - begin, kCount * kSecond);
  stopped.reset();
  child.wire().send('x');
  EXPECT_EQ(child.wire().receive<int>(), 0);
  sender.finish();
  child.finish();
}

// What one sender does: numbered datagrams at the pace that the receiver asks for.
void send_numbered(Side& side, Wire& wire, const Endpoint& target, std::uint32_t who) {
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
  side.connect(qp);
  ibv_ah* handle = side.address_handle(target);
  wire.meet();
  for (std::uint64_t i = 0; i < kEach; ++i) {
    memory.fill_pattern(who * kEach + i, 0, 100);
    post_datagram(side, qp, handle, target.number, memory, 100,
                  static_cast<std::uint32_t>(who * kEach + i));
    side.expect(IBV_WC_SUCCESS);
    if (i % kAtOnce == kAtOnce - 1) wire.meet();
  }
}

// They join at once: by packets they share an address and a port.
TEST(Datagrams, SeveralProcessesReachOneQueuePairWholeAndInOrder) {
  Side side;
  Memory& memory = side.memory(256 * 256);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
  side.connect(qp);
  const Endpoint own = side.endpoint(qp);
  std::vector<std::unique_ptr<Child>> senders;
  for (std::uint32_t who = 0; who < kSenders; ++who) {
    senders.push_back(std::make_unique<Child>([own, who](Wire& wire) {
      Side mine;
      send_numbered(mine, wire, own, who);
    }));
  }
  std::uint64_t posted = 0, next[kSenders] = {};
  const auto post = [&] {
    const std::size_t at = posted % 256;
    side.receive(qp, {memory.segment(at * 256, 256)}, at);
    ++posted;
  };
  while (posted < 256) post();
  for (const auto& sender : senders) sender->wire().meet();
  for (std::uint64_t block = 0; block < kEach / kAtOnce; ++block) {
    for (std::uint64_t i = 0; i < kSenders * kAtOnce; ++i) {
      const ibv_wc completion = side.expect(IBV_WC_SUCCESS);
      const std::uint32_t who = completion.imm_data / kEach;
      ASSERT_EQ(completion.imm_data % kEach, next[who]++);
      ASSERT_EQ(memory.first_not_pattern(completion.imm_data, completion.wr_id * 256 + kGrh, 100),
                -1);
      post();
    }
    for (const auto& sender : senders) sender->wire().meet();
  }
  for (const auto& sender : senders) sender->finish();
}

TEST(Datagrams, WithAnotherQueueKeyOrTooLongAreDropped) {
  Child child([](Wire& wire) {
    be_target(wire, {.type = IBV_QPT_UD}, [](TargetSide t) {
      t.side.receive(t.qp, {t.memory.segment(0, 4200)});
      t.wire.meet();
      t.wire.meet();
      t.side.expect_quiet(10);
    });
  });
  Side side;
  Memory& memory = side.memory(8192);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
  Endpoint target{};
  connect_to_target(side, qp, child.wire(), {}, &target);
  ibv_ah* handle = side.address_handle(target);
  child.wire().meet();
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud.ah = handle;
  request.wr.ud.remote_qpn = target.number;
  request.wr.ud.remote_qkey = kQueueKey + 1;
  side.post(qp, request, {memory.segment(0, 64)});
  side.expect(IBV_WC_SUCCESS);
  post_datagram(side, qp, handle, target.number, memory, 4097, 1);
  side.expect(IBV_WC_LOC_LEN_ERR);
  child.wire().meet();
  child.finish();
}

std::vector<std::uint8_t> frame_to(std::uint8_t last_of_mac, std::size_t bytes) {
  std::vector<std::uint8_t> frame = {0x02, 0x67, 0x64, 0x72, 0, last_of_mac, 0x02,
                                     0x67, 0x64, 0x72, 0,    0, 0x88,        0xb5};
  for (std::size_t i = frame.size(); i < bytes; ++i) frame.push_back(pattern(bytes, i));
  return frame;
}

TEST(RawFrames, ReachTheOtherDevicesProcessByRuleAndUnchanged) {
  constexpr std::size_t kSizes[] = {14, 60, 61, 1514, 9000};
  Child child([kSizes](Wire& wire) {
    Side side(1);  // soft1
    Memory& memory = side.memory(1 << 16);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RAW_PACKET);
    side.connect(qp);
    struct {
      ibv_flow_attr attr;
      ibv_flow_spec_eth ethernet;
    } rule{};
    static_assert(sizeof rule == sizeof rule.attr + sizeof rule.ethernet);
    rule.attr.type = IBV_FLOW_ATTR_NORMAL;
    rule.attr.size = sizeof rule;
    rule.attr.num_of_specs = 1;
    rule.attr.port = 1;
    rule.ethernet.type = IBV_FLOW_SPEC_ETH;
    rule.ethernet.size = sizeof rule.ethernet;
    const auto wanted = frame_to(1, 14);
    std::memcpy(rule.ethernet.val.dst_mac, wanted.data(), 6);
    std::memset(rule.ethernet.mask.dst_mac, 0xff, 6);
    ibv_flow* flow = ibv_create_flow(qp, &rule.attr);
    require(flow != nullptr, "a flow rule");
    for (const std::size_t size : kSizes) {
      memory.fill(0xa5);
      side.receive(qp, {memory.segment(3, 9216)}, size);
      wire.meet();
      const ibv_wc completion = side.expect(IBV_WC_SUCCESS);
      require(completion.byte_len == size && completion.wr_id == size, "the frame's length");
      const auto expected = frame_to(1, size);
      require(std::memcmp(memory.bytes() + 3, expected.data(), size) == 0, "every byte");
      require(memory.first_not(0xa5, 3 + size, 5000) == -1, "and no more");
    }
    wire.meet();
    require(ibv_destroy_flow(flow) == 0, "the rule goes");
  });
  Side side(0);
  Memory& memory = side.memory(1 << 16);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RAW_PACKET);
  side.connect(qp);
  const auto send = [&](const std::vector<std::uint8_t>& frame) {
    std::memcpy(memory.bytes(), frame.data(), frame.size());
    side.send(qp, memory, 0, frame.size());
    side.expect(IBV_WC_SUCCESS);
  };
  for (const std::size_t size : kSizes) {
    child.wire().meet();
    send(frame_to(2, size));  // nobody's address: dropped
    send(frame_to(1, size));
  }
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test
