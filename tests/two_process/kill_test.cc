// kill -9 of one of two processes at any moment: the other gets an error completion within two
// seconds, every one of its requests comes to one end, and nothing of the dead is left.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include <cstring>
#include <fstream>
#include <map>
#include <random>

#include "base/clock.h"
#include "connection.h"

namespace gdr::test {
namespace {

constexpr Nanoseconds kBound = 20 * kSecond;
constexpr std::size_t kBytes = 1 << 18;
constexpr std::uint64_t kReceives = 32;

struct Start {
  Endpoint endpoint;
  Remote remote;
};

// Traffic of every kind with one other process, until its own queue pair fails.
class Traffic {
 public:
  Traffic(Wire& wire, std::uint64_t seed) : wire_(wire), random_(seed) {}

  void run() {
    memory_ = &side_.memory(kBytes);
    qp_ = side_.queue_pair(IBV_QPT_RC, 16, true);
    wire_.send(Start{side_.endpoint(qp_), memory_->remote()});
    const auto other = wire_.receive<Start>();
    for (std::uint64_t i = 0; i < kReceives; ++i) post_receive();
    side_.connect(qp_, other.endpoint);
    wire_.meet();
    while (!failed_) {
      if (sends_ < 8 && random_() % 4 != 0) {
        post_send(other.remote);
      } else if (sends_ < 8) {
        post_list(other.remote, random_() % 2 == 0 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ);
      }
      take_completions();
    }
  }

  // After the failure: all that was posted ends once, and everything can be destroyed.
  void come_to_an_end() {
    const Nanoseconds start = now();
    while (!outstanding_.empty() && now() - start < kBound) take_completions();
    require(outstanding_.empty(), std::to_string(outstanding_.size()) +
                                      " requests have not ended, the first is " +
                                      std::to_string(first_outstanding()));
    require(ibv_destroy_qp(qp_) == 0, "the queue pair is destroyed");
    memory_->deregister();
    require(now() - start < kBound, "soon");
  }

 private:
  std::uint64_t first_outstanding() const {
    return outstanding_.empty() ? 0 : outstanding_.begin()->first;
  }
  void post_receive() {
    side_.receive(qp_, {memory_->segment(random_() % 4096, 1 + random_() % 20'000)}, ++id_);
    outstanding_[id_] = true;
  }
  void post_send(const Remote& remote) {
    constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_SEND,       IBV_WR_SEND,
                                          IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
                                          IBV_WR_RDMA_READ,  IBV_WR_ATOMIC_FETCH_AND_ADD};
    ibv_send_wr request{};
    request.opcode = kOpcodes[random_() % std::size(kOpcodes)];
    request.wr_id = ++id_;
    const bool atomic = request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    const bool send = request.opcode == IBV_WR_SEND;
    // What is sent fits into every receive.
    const std::size_t length = atomic ? 8 : send ? 1 : 1 + random_() % 60'000;
    if (atomic) {
      request.wr.atomic = {remote.address, 1, 0, remote.key};
    } else {
      request.wr.rdma = {remote.address + 4096, remote.key};
    }
    post(request, length);
  }
  // Short ones, which one system call carries together.
  void post_list(const Remote& remote, ibv_wr_opcode opcode) {
    ibv_send_wr requests[8]{};
    ibv_sge segments[8];
    for (std::size_t i = 0; i < std::size(requests); ++i) {
      segments[i] = memory_->segment(65'536 + i * 512, 1 + random_() % 300);
      requests[i].wr_id = ++id_;
      requests[i].opcode = opcode;
      requests[i].sg_list = &segments[i];
      requests[i].num_sge = 1;
      requests[i].wr.rdma = {remote.address + 4096 + random_() % 60'000, remote.key};
      if (i > 0) requests[i - 1].next = &requests[i];
      outstanding_[id_] = false;
    }
    ibv_send_wr* bad = nullptr;
    require(ibv_post_send(qp_, requests, &bad) == 0, "a list is posted");
    sends_ += static_cast<int>(std::size(requests));
  }
  void post(ibv_send_wr& request, std::size_t length) {
    ibv_sge segment = memory_->segment(65'536, length);
    request.sg_list = &segment;
    request.num_sge = 1;
    ibv_send_wr* bad = nullptr;
    require(ibv_post_send(qp_, &request, &bad) == 0, "posted");
    outstanding_[request.wr_id] = false;
    ++sends_;
  }
  void take_completions() {
    ibv_wc completions[8];
    const int count = ibv_poll_cq(side_.queue(), 8, completions);
    require(count >= 0, "the completion queue is in order");
    for (int i = 0; i < count; ++i) take(completions[i]);
  }
  void take(const ibv_wc& completion) {
    const auto found = outstanding_.find(completion.wr_id);
    require(found != outstanding_.end(),
            "request " + std::to_string(completion.wr_id) + " ends once");
    const bool receive = found->second;
    outstanding_.erase(found);
    if (!receive) --sends_;
    if (completion.status != IBV_WC_SUCCESS) {
      failed_ = true;
    } else if (receive && !failed_) {
      post_receive();
    }
  }

  Wire& wire_;
  std::mt19937_64 random_;
  Side side_;
  Memory* memory_ = nullptr;
  ibv_qp* qp_ = nullptr;
  std::map<std::uint64_t, bool> outstanding_;  // by id: whether it is a receive
  std::uint64_t id_ = 0;
  int sends_ = 0;
  bool failed_ = false;
};

// Its slot is a socket; in a network namespace of the test's own there is none but those of its
// processes.
int slots_held() {
  std::ifstream sockets("/proc/self/net/unix");
  std::string line;
  int count = 0;
  while (std::getline(sockets, line)) count += line.find("gdrkit") != std::string::npos;
  return count;
}

class Kill : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!enter_network_of_its_own()) {
      GTEST_SKIP() << "no network namespace can be had here: " << std::strerror(errno);
    }
  }

  // Both exchange traffic; `victim` dies of itself, or after `delay` microseconds.
  static void check(std::uint64_t seed, const std::string& appointment, unsigned delay) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + appointment);
    Child survivor([seed](Wire& wire) {
      Traffic traffic(wire, seed);
      traffic.run();
      wire.send(now());
      traffic.come_to_an_end();
      wire.meet();
    });
    Child victim([seed, &appointment](Wire& wire) {
      if (!appointment.empty()) setenv("GDR_KILL", appointment.c_str(), 1);
      Traffic(wire, seed + 1'000'000).run();
      pause();  // the survivor fails first only if this one does not die
    });
    victim.wire().send(survivor.wire().receive<Start>());
    survivor.wire().send(victim.wire().receive<Start>());
    survivor.wire().meet();
    victim.wire().meet();
    if (appointment.empty()) {
      usleep(delay);
      ::kill(victim.pid(), SIGKILL);
    }
    siginfo_t ended{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(victim.pid()), &ended, WEXITED | WNOWAIT), 0);
    const Nanoseconds died = now();
    EXPECT_EQ(ended.si_status, SIGKILL) << "the victim dies as it was told to";
    const auto noticed = survivor.wire().receive<Nanoseconds>();
    EXPECT_LT(noticed, died + kBound);
    survivor.wire().meet();
    survivor.finish();
    victim.kill();
    EXPECT_EQ(slots_held(), 0);
  }
};

TEST_P(Kill, DeathAtARandomMomentIsAnErrorForTheOtherAndLeavesNothing) {
  const int first = GetParam() * 40;
  std::mt19937 random(static_cast<unsigned>(first) + 7);
  for (int seed = first; seed < first + 40 && !HasFailure(); ++seed) {
    check(static_cast<std::uint64_t>(seed), "", random() % 15'000);
  }
}
INSTANTIATE_TEST_SUITE_P(TwoHundredSeeds, Kill, testing::Range(0, 5));

TEST_F(Kill, DeathAtEachNamedPointIsAnErrorForTheOtherAndLeavesNothing) {
#ifndef GDR_FAULT_HOOKS
  GTEST_SKIP() << "built without fault hooks";
#endif
  std::uint64_t seed = 5000;
  for (const char* point : {"post_send", "locked", "copied", "receive_taken", "receive_pushed",
                            "pushing", "pushing_receive", "poll_cq"}) {
    for (const int passage : {1, 2, 9, 57}) {
      check(++seed, std::string(point) + ":" + std::to_string(passage), 0);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gdr::test
