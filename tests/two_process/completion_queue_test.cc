// Completion queues that initiators in another process push to: resizing, moderation, stamps,
// solicited events, overruns; and what a fence orders.
#include <gtest/gtest.h>
#include <poll.h>

#include "base/clock.h"
#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::uint32_t kMessages = 20'000;

bool readable(int descriptor, int milliseconds) {
  pollfd wait{descriptor, POLLIN, 0};
  return poll(&wait, 1, milliseconds) == 1;
}

void take_event(Side& side) {
  require(readable(side.channel()->fd, 5000), "an event comes");
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  require(ibv_get_cq_event(side.channel(), &queue, &context) == 0, "an event");
  ibv_ack_cq_events(queue, 1);
}

// A message without a byte, unsignalled unless asked.
void send_nothing(Side& side, ibv_qp* qp, unsigned flags = IBV_SEND_SIGNALED,
                  std::uint32_t immediate = 0) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.send_flags = flags;
  request.imm_data = immediate;
  side.post(qp, request, {});
}

TEST(CompletionQueues, AreResizedWhileAnotherProcessPushes) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      for (int i = 0; i < 256; ++i) t.side.receive(t.qp, {});
      t.wire.meet();
      for (std::uint32_t i = 0; i < kMessages; ++i) {
        if (i % 16 == 0) {
          const int entries = 256 + static_cast<int>(i * 7919 % 3000);
          require(ibv_resize_cq(t.side.queue(), entries) == 0, "resized");
          require(t.side.queue()->cqe >= entries, "to what was asked for");
        }
        require(t.side.expect(IBV_WC_SUCCESS).imm_data == i, "nothing is lost, in order");
        t.side.receive(t.qp, {});
      }
      t.wire.meet();
    });
  });
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    send_nothing(side, qp, i % 32 == 31 ? IBV_SEND_SIGNALED : 0, i);
    if (i % 32 == 31) side.expect(IBV_WC_SUCCESS);
  }
  child.wire().meet();
  child.finish();
}

TEST(CompletionQueues, HoldBackTheEventsOfAnotherProcessesPushes) {
  Child child([](Wire& wire) {
    be_target(wire, {.with_channel = true}, [](TargetSide t) {
      for (int i = 0; i < 8; ++i) t.side.receive(t.qp, {});
      ibv_modify_cq_attr attr{};
      attr.attr_mask = IBV_CQ_ATTR_MODERATE;
      attr.moderate = {.cq_count = 3, .cq_period = 0xffff};
      require(ibv_modify_cq(t.side.queue(), &attr) == 0, "moderated");
      require(ibv_req_notify_cq(t.side.queue(), 0) == 0, "armed");
      const Nanoseconds begun = now();
      t.wire.meet();
      take_event(t.side);  // one message: after the period
      require(now() - begun >= 65 * kMillisecond, "not before it");
      attr.moderate = {.cq_count = 3, .cq_period = 0xffff};
      require(ibv_req_notify_cq(t.side.queue(), 0) == 0, "armed");
      t.wire.meet();
      take_event(t.side);  // three
      for (int i = 0; i < 4; ++i) t.side.expect(IBV_WC_SUCCESS);
      t.wire.meet();
    });
  });
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  send_nothing(side, qp);
  child.wire().meet();
  for (int i = 0; i < 3; ++i) send_nothing(side, qp);
  child.wire().meet();
  child.finish();
}

TEST(CompletionQueues, GiveStampsThatCompareBetweenProcesses) {
  const auto device_time = [](ibv_context* context) {
    ibv_values_ex values{};
    values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    require(ibv_query_rt_values_ex(context, &values) == 0, "the device's clock");
    return static_cast<std::uint64_t>(values.raw_clock.tv_nsec);
  };
  Child child([](Wire& wire) {
    Side side;
    ibv_cq_init_attr_ex init{};
    init.cqe = 16;
    init.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    ibv_cq_ex* queue = ibv_create_cq_ex(side.context(), &init);
    require(queue != nullptr, "a queue with stamps");
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, false, ibv_cq_ex_to_cq(queue));
    wire.send(side.endpoint(qp));
    wire.send(Remote{});
    side.connect(qp, wire.receive<Endpoint>());
    side.receive(qp, {});
    wire.meet();
    wire.meet();
    ibv_poll_cq_attr attr{};
    require(ibv_start_poll(queue, &attr) == 0, "the message is there");
    wire.send(ibv_wc_read_completion_ts(queue));
    ibv_end_poll(queue);
    require(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(ibv_cq_ex_to_cq(queue)) == 0, "destroyed");
  });
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  const std::uint64_t before = device_time(side.context());
  send_nothing(side, qp);
  side.expect(IBV_WC_SUCCESS);
  const std::uint64_t after = device_time(side.context());
  child.wire().meet();
  const auto stamp = child.wire().receive<std::uint64_t>();
  EXPECT_GE(stamp, before);
  EXPECT_LE(stamp, after);
  child.finish();
}

TEST(CompletionQueues, TellOfSolicitedMessagesOnlyWhenArmedForThem) {
  Child child([](Wire& wire) {
    be_target(wire, {.with_channel = true}, [](TargetSide t) {
      for (int i = 0; i < 8; ++i) t.side.receive(t.qp, {});
      require(ibv_req_notify_cq(t.side.queue(), 1) == 0, "armed for solicited ones");
      t.wire.meet();
      t.wire.meet();
      require(!readable(t.side.channel()->fd, 30), "an unsolicited message makes no event");
      t.wire.meet();
      take_event(t.side);
      require(!readable(t.side.channel()->fd, 30), "one event for one arming");
      t.wire.meet();
    });
  });
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  send_nothing(side, qp);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.wire().meet();
  send_nothing(side, qp, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
  send_nothing(side, qp, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
  child.wire().meet();
  child.finish();
}

TEST(CompletionQueues, TakeTheirQueuePairsAlongWhenAnotherProcessOverrunsThem) {
  Child child([](Wire& wire) {
    be_target(wire, {.completions = 4}, [](TargetSide t) {
      for (int i = 0; i < 8; ++i) t.side.receive(t.qp, {});
      t.wire.meet();
      const ibv_event_type first = t.side.event(), second = t.side.event();
      require(first == IBV_EVENT_CQ_ERR && second == IBV_EVENT_QP_FATAL, "both are told");
      ibv_qp_attr attr{};
      ibv_qp_init_attr init{};
      require(ibv_query_qp(t.qp, &attr, IBV_QP_STATE, &init) == 0, "queried");
      require(attr.qp_state == IBV_QPS_ERR, "the queue pair is in error");
      t.wire.meet();
      t.wire.meet();
    });
  });
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire(), {.timeout = 10, .retry_count = 1});
  child.wire().meet();
  for (int i = 0; i < 5; ++i) {
    send_nothing(side, qp);
    side.expect(IBV_WC_SUCCESS);
  }
  child.wire().meet();
  send_nothing(side, qp);
  side.expect(IBV_WC_RETRY_EXC_ERR);  // nobody answers there any more
  child.wire().meet();
  child.finish();
}

TEST(Fence, ASendWaitsForTheReadWhoseBytesItCarries) {
  constexpr int kRounds = 500;
  constexpr std::size_t kBytes = 10'000;
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        t.memory.fill_pattern(round, 0, kBytes);
        t.side.receive(t.qp, {t.memory.segment(1 << 16, kBytes)});
        t.wire.meet();
        t.side.expect(IBV_WC_SUCCESS);
        require(t.memory.first_not_pattern(round, 1 << 16, kBytes) == -1, "what was read");
      }
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(1 << 16);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  for (int round = 0; round < kRounds; ++round) {
    child.wire().meet();
    side.read(qp, memory, 0, kBytes, remote);
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
    side.post(qp, request, {memory.segment(0, kBytes)});
    EXPECT_EQ(side.expect(IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_READ);
    EXPECT_EQ(side.expect(IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
  }
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test
