// Processes that end or fork in the middle of transfers of GPU memory.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "gpu_side.h"

namespace gdr::test {
namespace {

constexpr int kRounds = 4;
constexpr std::size_t kOffset = 4096, kLength = 1 << 20;
constexpr int kInFlight = 16;

class GpuKilled : public testing::TestWithParam<Allocator> {};

// Writes until one fails; how many went well before. Every request has one completion.
int write_until_one_fails(Side& side, ibv_qp* qp, const ibv_sge& from, const Remote& to) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {to.address + kOffset, to.key};
  int good = 0, outstanding = 0;
  for (bool failed = false; !failed || outstanding > 0;) {
    while (!failed && outstanding < kInFlight) {
      side.post(qp, request, {from});
      ++outstanding;
    }
    const ibv_wc_status status = side.completion().status;
    --outstanding;
    if (status == IBV_WC_SUCCESS) {
      require(!failed, "nothing succeeds behind a failure");
      ++good;
    } else {
      require(
          status == (failed ? IBV_WC_WR_FLUSH_ERR : IBV_WC_RETRY_EXC_ERR),
          std::string("the target's death is seen as such, not as ") + ibv_wc_status_str(status));
      failed = true;
    }
  }
  return good;
}

TEST_P(GpuKilled, TargetEndsEveryWriteIntoItsMemoryAndClosesIt) {
  std::vector<std::unique_ptr<Child>> targets;
  for (int i = 0; i < kRounds; ++i) {
    targets.push_back(std::make_unique<Child>([](Wire& wire) {
      be_gpu_target(wire, GetParam(), kGpuBytes,
                    [&](GpuMemory&, Side&) { (void)wire.receive<char>(); });
    }));
  }
  use_gpu();
  Side side;
  GpuMemory own(side, Allocator::kMemAlloc);
  Memory& host = side.memory(kLength);
  const int before = mapped_gpu_memory();
  for (int i = 0; i < kRounds; ++i) {
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
    Child& target = *targets[static_cast<std::size_t>(i)];
    connect_to_target(side, qp, target.wire());
    const auto remote = target.wire().receive<Remote>();
    // Some while it is still being opened, some long after.
    const Child killer([&](Wire&) {
      usleep(static_cast<unsigned>(i) * 30'000);
      require(kill(target.pid(), SIGKILL) == 0, "the target is killed");
      pause();
    });
    const ibv_sge from = i % 2 == 0 ? own.segment(0, kLength) : host.segment(0, kLength);
    const Nanoseconds start = now();
    (void)write_until_one_fails(side, qp, from, remote);
    EXPECT_LT(now() - start, 50 * kSecond);
    ibv_destroy_qp(qp);
  }
  EXPECT_TRUE(soon([&] { return mapped_gpu_memory() == before; }))
      << mapped_gpu_memory() << " instead of " << before;
  EXPECT_EQ(own.first_not(0, 0, 0), -1);
}

// A process that writes into another's GPU memory until it is killed.
void write_for_ever(Wire& wire) {
  use_gpu();
  Side side;
  GpuMemory from(side, Allocator::kMemAlloc);
  from.fill_pattern(7, 0, kLength);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  const Remote remote = connect_to_target(side, qp, wire);
  (void)write_until_one_fails(side, qp, from.segment(0, kLength), remote);
}

// The other end of connect_to_target, over memory that is there already.
void be_target_of(Side& side, Wire& wire, const Remote& remote) {
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  wire.send(side.endpoint(qp));
  wire.send(remote);
  side.connect(qp, wire.receive<Endpoint>());
  wire.meet();
}

// What was sent, as far as it came, and nothing else.
bool holds_at_most(GpuMemory& gpu, std::uint64_t seed) {
  const std::vector<unsigned char> bytes = gpu.memory().read();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool inside = i >= kOffset && i < kOffset + kLength;
    if (bytes[i] != 0xee && !(inside && bytes[i] == pattern(seed, i - kOffset))) return false;
  }
  return true;
}

TEST_P(GpuKilled, InitiatorLeavesItsTargetWithWholeMemory) {
  std::vector<std::unique_ptr<Child>> initiators;
  for (int i = 0; i < kRounds; ++i) {
    initiators.push_back(std::make_unique<Child>(write_for_ever));
  }
  use_gpu();
  Side side;
  for (int i = 0; i < kRounds; ++i) {
    GpuMemory gpu(side, GetParam());
    Child& initiator = *initiators[static_cast<std::size_t>(i)];
    be_target_of(side, initiator.wire(), gpu.remote());
    EXPECT_TRUE(soon([&] { return gpu.first_not(0, 0, 0) != -1; })) << "it writes";
    usleep(static_cast<unsigned>(i) * 3'000);
    initiator.kill();
    const Nanoseconds start = now();
    gpu.deregister();  // from here on nobody writes
    EXPECT_LT(now() - start, 50 * kSecond);
    EXPECT_TRUE(holds_at_most(gpu, 7)) << "bytes that nobody sent, or outside of the range";
    gpu.memory().fill(std::vector<unsigned char>(kGpuBytes, 0xee));
    usleep(10'000);
    EXPECT_EQ(gpu.first_not(0, 0, 0), -1) << "nothing comes late";
  }
}

INSTANTIATE_TEST_SUITE_P(Of, GpuKilled, testing::ValuesIn(kAllocators),
                         [](const auto& one) { return name_of(one.param); });

int threads_of_this_process() {
  int count = -2;  // . and ..
  DIR* folder = opendir("/proc/self/task");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

class GpuFork : public testing::TestWithParam<Allocator> {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the thread sanitizer knows no threads in the child of a process with threads";
#endif
#if defined(__SANITIZE_ADDRESS__) && defined(__GNUC__) && __GNUC__ < 14
    GTEST_SKIP()
        << "the address sanitizer of GCC before 14 leaves its allocator locked in the child";
#endif
  }
  // Forks in the middle of transfers, runs `body` in the child, and says how that ended.
  void expect_both_go_on(const std::function<void(Loopback&, GpuMemory&)>& body);
};

void GpuFork::expect_both_go_on(const std::function<void(Loopback&, GpuMemory&)>& body) {
  Loopback loop;
  Memory& host = loop.side.memory(kLength);
  GpuMemory gpu(loop.side, GetParam());
  for (std::uint64_t round = 1; round <= 8; ++round) {
    host.fill_pattern(round, 0, kLength);
    for (int i = 0; i < kInFlight; ++i) loop.write(host.segment(0, kLength), gpu.remote(), 99);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(600);
      try {
        body(loop, gpu);
      } catch (const Failure& failure) {
        ADD_FAILURE() << failure.what();
      }
      std::fflush(nullptr);
#if defined(__SANITIZE_ADDRESS__)  // its leak checker takes what the parent's threads held for
                                   // leaks
      _exit(HasFailure() ? 1 : 0);
#else  // what libraries do at exit is done
      std::exit(HasFailure() ? 1 : 0);
#endif
    }
    for (int i = 0; i < kInFlight; ++i) loop.side.expect(IBV_WC_SUCCESS);
    EXPECT_EQ(gpu.first_not(round, 99, kLength), -1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << "in round " << round;
    gpu.memory().fill(std::vector<unsigned char>(kGpuBytes, 0xee));
    loop.write(host.segment(0, kLength), gpu.remote(), 99);
    loop.side.expect(IBV_WC_SUCCESS);
    EXPECT_EQ(gpu.first_not(round, 99, kLength), -1);
  }
}

TEST_P(GpuFork, AfterRegistrationLeavesTheChildWithoutThreadsAndTheParentWithItsMemory) {
  expect_both_go_on([](Loopback&, GpuMemory&) { EXPECT_EQ(threads_of_this_process(), 1); });
}

TEST_P(GpuFork, ChildThatDestroysWhatItInheritedDoesNotTakeItFromTheParent) {
  expect_both_go_on([](Loopback& loop, GpuMemory& gpu) {
    gpu.deregister();
    EXPECT_EQ(ibv_destroy_qp(loop.qp), 0);
    gpu.memory().forget();  // the driver's, which does not work in a child
  });
}

TEST_P(GpuFork, ChildUsesTheDeviceAfreshWithHostMemoryAndIsRefusedGpuMemory) {
  expect_both_go_on([](Loopback&, GpuMemory& gpu) {
    Side side;
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
    side.connect(qp, side.endpoint(qp));
    Memory& from = side.memory(5000);
    Memory& to = side.memory(5000);
    from.fill_pattern(3, 0, 5000);
    side.write(qp, from, 0, 5000, to.remote());
    side.expect(IBV_WC_SUCCESS);
    EXPECT_EQ(to.first_not_pattern(3, 0, 5000), -1);
    EXPECT_EQ(ibv_reg_mr(side.domain(), reinterpret_cast<void*>(gpu.memory().address()), 4096,
                         IBV_ACCESS_LOCAL_WRITE),
              nullptr);
    EXPECT_EQ(errno, EFAULT);
  });
}

INSTANTIATE_TEST_SUITE_P(Of, GpuFork, testing::ValuesIn(kAllocators),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace gdr::test
