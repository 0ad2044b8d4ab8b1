// A sender that may map little (RLIMIT_AS), and a completion queue whose ring lies beyond what is
// mapped of a process at once.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "side.h"

namespace gdr::test {
namespace {

constexpr int kCompletions = 1 << 20;

// While it lives, this process may map a little beside what it has.
class Narrow {
 public:
  Narrow() {
    require(getrlimit(RLIMIT_AS, &before_) == 0, "the limit is known");
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    constexpr rlim_t kLittle = 30 << 20;
    const rlimit narrow{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kLittle,
                        before_.rlim_max};
    require(setrlimit(RLIMIT_AS, &narrow) == 0, "it is limited");
  }
  ~Narrow() { setrlimit(RLIMIT_AS, &before_); }
  Narrow(const Narrow&) = delete;
  Narrow& operator=(const Narrow&) = delete;

 private:
  rlimit before_{};
};

void send(Side& side, ibv_qp* qp, ibv_ah* to = nullptr, std::uint32_t number = 0) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud = {to, number, kQueueKey};
  side.post(qp, request, {});
}

void require_ready(ibv_qp* qp) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  require(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0, "queried");
  require(attr.qp_state == IBV_QPS_RTS, "the queue pair is in no error");
}

// Its ring lies far away, and what is made afterwards, such as receive rings, in the hole before
// it.
ibv_cq* far_queue(Side& side) {
  ibv_cq* hole = ibv_create_cq(side.context(), 8192, nullptr, nullptr, 0);
  ibv_cq* queue = ibv_create_cq(side.context(), kCompletions, nullptr, nullptr, 0);
  require(hole != nullptr && queue != nullptr, "completion queues");
  require(ibv_destroy_cq(hole) == 0, "a hole");
  return queue;
}

ibv_qp* connected(Side& side, Wire& wire, ibv_qp_type type, ibv_cq* queue = nullptr,
                  Endpoint* target = nullptr) {
  ibv_qp* qp = side.queue_pair(type, 64, false, queue);
  wire.send(side.endpoint(qp));
  const auto to = wire.receive<Endpoint>();
  side.connect(qp, to, {.timeout = 10, .retry_count = 1});
  if (target != nullptr) *target = to;
  return qp;
}

TEST(NarrowAddressSpace, OfASenderGetsItNoAnswerFromAQueueThatItCannotMap) {
  Child child([](Wire& wire) {
    Side side;
    ibv_cq* far = far_queue(side);
    ibv_qp* qp = connected(side, wire, IBV_QPT_RC, far);
    side.receive(qp, {}, 1);
    wire.meet();
    wire.meet();
    require_ready(qp);
    ibv_qp* next = connected(side, wire, IBV_QPT_RC, far);
    side.receive(next, {}, 2);
    wire.meet();
    require(side.expect(IBV_WC_SUCCESS, far).wr_id == 2, "the queue takes others' alone");
    wire.meet();
  });
  Side side;
  ibv_qp* qp = connected(side, child.wire(), IBV_QPT_RC);
  child.wire().meet();
  {
    const Narrow narrow;
    send(side, qp);
    side.expect(IBV_WC_RETRY_EXC_ERR);
  }
  child.wire().meet();
  ibv_qp* next = connected(side, child.wire(), IBV_QPT_RC);
  child.wire().meet();
  send(side, next);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.finish();
}

TEST(NarrowAddressSpace, OfASenderLosesItsDatagramsToAQueueThatItCannotMap) {
  Child child([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(1024);
    ibv_cq* far = far_queue(side);
    ibv_qp* qp = connected(side, wire, IBV_QPT_UD, far);
    side.receive(qp, {memory.segment(0, 1024)}, 1);
    wire.meet();
    wire.meet();
    require_ready(qp);
    wire.meet();
    require(side.expect(IBV_WC_SUCCESS, far).wr_id == 1, "the receive is the next one's");
    wire.meet();
  });
  Side side;
  Endpoint target{};
  ibv_qp* qp = connected(side, child.wire(), IBV_QPT_UD, nullptr, &target);
  ibv_ah* handle = side.address_handle(target);
  child.wire().meet();
  {
    const Narrow narrow;
    send(side, qp, handle, target.number);
    side.expect(IBV_WC_SUCCESS);
  }
  child.wire().meet();
  child.wire().meet();
  send(side, qp, handle, target.number);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test
