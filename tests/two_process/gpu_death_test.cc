// Death beside GPU memory: what the driver does slowly holds up nobody, and what the GPU of a dying
// process may still be doing is waited for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/clock.h"
#include "gpu_side.h"

namespace gdr::test {
namespace {

constexpr Nanoseconds kBound = 20 * kSecond;

// The program's own work on the GPU does not end until it is let go, like that of a kernel which
// waits for the network.
class BusyGpu {
 public:
  BusyGpu() {
    const cuda::Driver& driver = *memory::soft_gpu::driver();
    require(driver.stream_create(&stream_, cuda::CU_STREAM_NON_BLOCKING) == cuda::CUDA_SUCCESS &&
                driver.launch_host_func(stream_, wait, &open_) == cuda::CUDA_SUCCESS,
            "the GPU is busy");
  }
  ~BusyGpu() {
    let_go();
    memory::soft_gpu::driver()->stream_destroy(stream_);
  }
  BusyGpu(const BusyGpu&) = delete;
  BusyGpu& operator=(const BusyGpu&) = delete;
  void let_go() {
    open_ = true;
    memory::soft_gpu::driver()->stream_synchronize(stream_);
  }

 private:
  static void wait(void* open) {
    while (!*static_cast<std::atomic<bool>*>(open)) usleep(1000);
  }
  std::atomic<bool> open_{false};
  cuda::CUstream stream_ = nullptr;
};

class GpuDeath : public testing::TestWithParam<Allocator> {};

void own_memory_until_killed(Wire& wire) {
  be_gpu_target(wire, GpuDeath::GetParam(), kGpuBytes,
                [&](GpuMemory&, Side&) { (void)wire.receive<char>(); });
}

// Its service thread is at hand for others all the time.
TEST_P(GpuDeath, OwnersDeathDelaysNobodyWhileTheDriverWaitsToCloseItsMemory) {
  Child owner(own_memory_until_killed);
  Child other([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(4096);
    memory.fill(0x5a);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    const Remote remote = connect_to_target(side, qp, wire);
    (void)wire.receive<char>();
    side.write(qp, memory, 0, 4096, remote);
    side.expect(IBV_WC_SUCCESS);
    wire.send('.');
  });
  use_gpu();
  Side side;
  const GpuMemory served(side, Allocator::kPool);  // only its owner's service thread copies there
  ibv_qp* others = side.queue_pair(IBV_QPT_RC);
  other.wire().send(side.endpoint(others));
  other.wire().send(served.remote());
  side.connect(others, other.wire().receive<Endpoint>());
  other.wire().meet();
  const int before = mapped_gpu_memory();
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, owner.wire());
  (void)owner.wire().receive<Remote>();
  ASSERT_TRUE(soon([&] { return has_opened_more_than(before); }));
  usleep(100'000);
  BusyGpu busy;
  ASSERT_EQ(ibv_destroy_qp(qp), 0);  // nobody but the service thread knows the owner now
  owner.kill();
  usleep(200'000);
  other.wire().send('.');
  EXPECT_EQ(other.wire().receive<char>(), '.');
  other.finish();
  busy.let_go();
  EXPECT_TRUE(soon([&] { return mapped_gpu_memory() == before; }));
}

// A queue pair that is connected to the dead keeps nothing open, and its requests do not wait.
TEST_P(GpuDeath, OwnersDeathEndsRequestsWhileTheDriverWaitsToCloseItsMemory) {
  Child owner(own_memory_until_killed);
  use_gpu();
  Side side;
  Memory& host = side.memory(4096);
  const GpuMemory own(side, Allocator::kMemAlloc);  // what copies need is there before the count
  const int before = mapped_gpu_memory();
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, owner.wire());
  const auto remote = owner.wire().receive<Remote>();
  ASSERT_TRUE(soon([&] { return has_opened_more_than(before); }));
  usleep(100'000);
  BusyGpu busy;
  owner.kill();
  const Nanoseconds start = now();
  side.write(qp, host, 0, 4096, remote);
  side.expect(IBV_WC_RETRY_EXC_ERR);
  EXPECT_LT(now() - start, kBound);
  busy.let_go();
  EXPECT_TRUE(soon([&] { return mapped_gpu_memory() == before; }));
}

INSTANTIATE_TEST_SUITE_P(Of, GpuDeath, testing::Values(Allocator::kMemAlloc, Allocator::kVmm),
                         [](const auto& one) { return name_of(one.param); });

// A process with the test's GPU memory open, and a queue pair to it.
struct Initiator {
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  Remote host, gpu;

  explicit Initiator(Wire& wire) {
    const int before = mapped_gpu_memory();
    wire.send(side.endpoint(qp));
    wire.send(memory.remote());
    side.connect(qp, wire.receive<Endpoint>());
    wire.meet();
    host = wire.receive<Remote>();
    gpu = wire.receive<Remote>();
    require(soon([&] { return has_opened_more_than(before); }), "the test's memory is open");
  }
};

// The test's side of it.
struct Target {
  Side side;
  GpuMemory gpu{side, Allocator::kVmm};
  Memory& host = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  Remote initiators;

  explicit Target(Wire& wire) {
    initiators = connect_to_target(side, qp, wire);
    wire.send(host.remote());
    wire.send(gpu.remote());
  }
};

// A thread of another process that stops on its way out, and its process with it.
class StopsInExit {
 public:
  explicit StopsInExit(pid_t thread) : thread_(thread) {
    is_traced_ = ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACEEXIT) == 0;
  }
  ~StopsInExit() { let_go(); }
  StopsInExit(const StopsInExit&) = delete;
  StopsInExit& operator=(const StopsInExit&) = delete;
  bool is_traced() const { return is_traced_; }
  bool has_stopped() const {
    int status = 0;
    return waitpid(thread_, &status, __WALL | WNOHANG) == thread_ &&
           status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
  }
  void let_go() {
    if (!is_traced_) return;
    is_traced_ = false;
    ptrace(PTRACE_CONT, thread_, nullptr, nullptr);
    waitpid(thread_, nullptr, __WALL);
  }

 private:
  const pid_t thread_;
  bool is_traced_;
};

// A thread whose descriptors are its own, and all closed. Its number.
pid_t start_thread_without_descriptors() {
  static std::atomic<pid_t> number{0};
  std::thread([] {
    require(unshare(CLONE_FILES) == 0 && syscall(SYS_close_range, 3, ~0u, 0) == 0, "closed");
    number = static_cast<pid_t>(syscall(SYS_gettid));
    while (true) pause();
  }).detach();
  while (number == 0) usleep(100);
  return number;
}

TEST(GpuDeathOfAnInitiator, CountsOnceItsProcessHasEndedAndNotWhenItHangsUp) {
#ifndef GDR_FAULT_HOOKS
  GTEST_SKIP() << "built without fault hooks";
#endif
  if (is_real_gpu()) GTEST_SKIP() << "a process with a genuine driver did not stop in its exit";
  Child child([](Wire& wire) {
    setenv("GDR_KILL", "locked:1", 1);
    use_gpu();
    Initiator own(wire);
    wire.send(start_thread_without_descriptors());
    (void)wire.receive<char>();
    own.side.write(own.qp, own.memory, 0, 4096,
                   own.host);  // dies with the test's queue pair locked
    pause();
  });
  use_gpu();
  Target own(child.wire());
  std::atomic<bool> is_deregistered{false};
  std::jthread deregisters;  // before what may have to let go of the other for it to end
  StopsInExit stops(child.wire().receive<pid_t>());
  if (!stops.is_traced()) GTEST_SKIP() << "processes may not be traced here";
  child.wire().send('.');
  ASSERT_TRUE(soon([&] { return stops.has_stopped(); }));
  usleep(100'000);  // the others of its threads are gone, and its connection with them
  own.side.write(own.qp, own.host, 0, 64, own.initiators);
  deregisters = std::jthread([&] {
    own.gpu.deregister();
    is_deregistered = true;
  });
  own.side.expect_quiet(300);
  EXPECT_FALSE(is_deregistered) << "its GPU may still be writing there";
  const Nanoseconds start = now();
  stops.let_go();
  deregisters.join();
  own.side.expect(IBV_WC_RETRY_EXC_ERR);
  EXPECT_LT(now() - start, kBound);
}

// It lives on, and will not end: the GPU's descriptors were closed with all others.
TEST(GpuDeathOfAnInitiator, ByExecIsSeenThoughNotAtOnce) {
  Child child([](Wire& wire) {
    use_gpu();
    const Initiator own(wire);
    execl("/bin/sleep", "sleep", "600", nullptr);
  });
  use_gpu();
  Target own(child.wire());
  EXPECT_THROW(child.wire().receive<char>(), Failure);  // closed by the exec
  const Nanoseconds start = now();
  own.side.write(own.qp, own.host, 0, 64, own.initiators);
  own.side.expect(IBV_WC_RETRY_EXC_ERR);
  EXPECT_GE(now() - start, 300 * kMillisecond);
}

}  // namespace
}  // namespace gdr::test
