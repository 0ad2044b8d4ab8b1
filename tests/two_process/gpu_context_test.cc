// What a program must not notice: its current context, its stream capture.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "gpu_side.h"

namespace gdr::test {
namespace {

using cuda::CUDA_SUCCESS;

const cuda::Driver& driver() { return *memory::soft_gpu::driver(); }

cuda::CUcontext current() {
  cuda::CUcontext found = nullptr;
  EXPECT_EQ(driver().ctx_get_current(&found), CUDA_SUCCESS);
  return found;
}

// A context of the program's own beside the primary one.
class SecondContext {
 public:
  SecondContext() {
    cuda::CUcontext popped = nullptr;
    EXPECT_EQ(driver().ctx_create(&context_, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(driver().ctx_pop_current(&popped), CUDA_SUCCESS);
  }
  ~SecondContext() { destroy(); }
  void destroy() {
    if (context_ == nullptr) return;
    EXPECT_EQ(driver().ctx_destroy(context_), CUDA_SUCCESS);
    context_ = nullptr;
  }
  cuda::CUcontext get() const { return context_; }

 private:
  cuda::CUcontext context_ = nullptr;
};

enum class Current { kNone, kPrimary, kSecond };

struct Setting {
  Allocator allocator;
  Current current;
};

std::string text_of(const Setting& setting) {
  const char* names[] = {"None", "Primary", "Second"};
  return name_of(setting.allocator) + names[static_cast<int>(setting.current)];
}

class GpuContext : public testing::TestWithParam<Setting> {};

// Every call on the way of a region's life, each in a thread that has nothing but that context.
void use_verbs(std::uint64_t gpu, const std::function<void(const char*)>& after) {
  Side side;
  after("opening the device");
  ibv_mr* region = ibv_reg_mr(side.domain(), reinterpret_cast<void*>(gpu), kGpuBytes, kAllAccess);
  ASSERT_NE(region, nullptr);
  after("ibv_reg_mr");
  Memory& host = side.memory(kGpuBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  after("ibv_create_qp");
  side.connect(qp, side.endpoint(qp));
  after("ibv_modify_qp");
  for (const auto opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    for (const std::size_t length : {std::size_t{1}, std::size_t{4096}, kGpuBytes}) {
      ibv_send_wr request{};
      request.opcode = opcode;
      request.wr.rdma = {gpu, region->rkey};
      side.post(qp, request, {host.segment(0, length)});
      after("ibv_post_send");
      side.expect(IBV_WC_SUCCESS);
      after("ibv_poll_cq");
    }
  }
  EXPECT_EQ(
      ibv_rereg_mr(region, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_READ),
      0);
  after("ibv_rereg_mr");
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
  after("ibv_dereg_mr");
}

TEST_P(GpuContext, OfTheCallerIsTheSameAfterEveryCall) {
  use_gpu();
  const cuda::CUcontext primary = current();
  SecondContext second;
  const memory::soft_gpu::Memory gpu(GetParam().allocator, kGpuBytes);
  const cuda::CUcontext choices[] = {nullptr, primary, second.get()};
  const cuda::CUcontext chosen = choices[static_cast<int>(GetParam().current)];
  std::thread([&] {
    if (chosen != nullptr) {
      EXPECT_EQ(driver().ctx_push_current(primary), CUDA_SUCCESS);
      EXPECT_EQ(driver().ctx_push_current(chosen), CUDA_SUCCESS);
    }
    ASSERT_EQ(current(), chosen);
    use_verbs(gpu.address(), [&](const char* call) { EXPECT_EQ(current(), chosen) << call; });
    EXPECT_EQ(current(), chosen) << "closing the device";
    // And what lay below it in the thread's stack.
    for (const cuda::CUcontext below : {chosen, chosen != nullptr ? primary : nullptr}) {
      cuda::CUcontext popped = nullptr;
      EXPECT_EQ(driver().ctx_pop_current(&popped) == CUDA_SUCCESS, below != nullptr);
      EXPECT_EQ(popped, below);
    }
    EXPECT_EQ(current(), nullptr);
  }).join();
  EXPECT_EQ(current(), primary);
}

std::vector<Setting> every_setting() {
  std::vector<Setting> all;
  for (const Allocator allocator : kAllocators) {
    for (const auto now : {Current::kNone, Current::kPrimary, Current::kSecond}) {
      all.push_back({allocator, now});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Of, GpuContext, testing::ValuesIn(every_setting()),
                         [](const auto& one) { return text_of(one.param); });

class GpuContexts : public testing::TestWithParam<Allocator> {};

TEST_P(GpuContexts, MemoryOfTwoIsCopiedInEitherDirectionWhicheverIsCurrent) {
  Loopback loop;
  const cuda::CUcontext primary = current();
  GpuMemory first(loop.side, GetParam());
  SecondContext second;
  for (const cuda::CUcontext chosen : {primary, second.get()}) {
    ASSERT_EQ(driver().ctx_set_current(second.get()), CUDA_SUCCESS);
    GpuMemory there(loop.side, GetParam());
    there.fill_pattern(3, 0, 5000);
    ASSERT_EQ(driver().ctx_set_current(chosen), CUDA_SUCCESS);
    loop.write(there.segment(0, 5000), first.remote(), 321);
    loop.side.expect(IBV_WC_SUCCESS);
    EXPECT_EQ(first.first_not(3, 321, 5000), -1);
    loop.read(there.segment(0, 5321), first.remote(), 0);
    loop.side.expect(IBV_WC_SUCCESS);
    EXPECT_EQ(there.first_not(3, 321, 5000), -1);
    there.deregister();
    ASSERT_EQ(driver().ctx_set_current(second.get()), CUDA_SUCCESS);
    there.memory().free();
  }
  ASSERT_EQ(driver().ctx_set_current(primary), CUDA_SUCCESS);
}

TEST_P(GpuContexts, EndOfOneLeavesTheMemoryOfTheOthersRegistered) {
  Loopback loop;
  Memory& host = loop.side.memory(4096);
  host.fill_pattern(9, 0, 4096);
  const cuda::CUcontext primary = current();
  GpuMemory first(loop.side, GetParam());
  SecondContext second;
  ASSERT_EQ(driver().ctx_set_current(second.get()), CUDA_SUCCESS);
  GpuMemory there(loop.side, GetParam());
  const Remote gone = there.remote();
  ASSERT_EQ(driver().ctx_set_current(primary), CUDA_SUCCESS);
  second.destroy();
  loop.write(host.segment(0, 4096), first.remote(), 5);
  loop.side.expect(IBV_WC_SUCCESS);
  EXPECT_EQ(first.first_not(9, 5, 4096), -1);
  if (GetParam() == Allocator::kMemAlloc) {  // that of the others belongs to no context
    const GpuMemory next(loop.side, GetParam());
    loop.write(host.segment(0, 4096), gone, 0);
    loop.side.expect(IBV_WC_REM_OP_ERR);
    EXPECT_EQ(next.first_not(0, 0, 0), -1);
    there.memory().forget();
  }
}

INSTANTIATE_TEST_SUITE_P(Of, GpuContexts, testing::ValuesIn(kAllocators),
                         [](const auto& one) { return name_of(one.param); });

// A capture in the strictest mode, by this thread.
class Capture {
 public:
  Capture() {
    EXPECT_EQ(driver().stream_create(&stream_, cuda::CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    EXPECT_EQ(driver().stream_begin_capture(stream_, cuda::CU_STREAM_CAPTURE_MODE_GLOBAL),
              CUDA_SUCCESS);
  }
  ~Capture() { end(); }
  // Whether nothing has spoilt it.
  bool end() {
    if (stream_ == nullptr) return false;
    cuda::CUgraph graph = nullptr;
    const bool is_good = driver().stream_end_capture(stream_, &graph) == CUDA_SUCCESS;
    if (is_good) {
      EXPECT_EQ(driver().graph_destroy(graph), CUDA_SUCCESS);
    }
    EXPECT_EQ(driver().stream_destroy(stream_), CUDA_SUCCESS);
    stream_ = nullptr;
    return is_good;
  }

 private:
  cuda::CUstream stream_ = nullptr;
};

class GpuCapture : public testing::TestWithParam<Allocator> {};

TEST_P(GpuCapture, ThatIsUnderWayIsSpoiltByAnUnsafeCall) {
  use_gpu();
  Capture capture;
  EXPECT_EQ(driver().ctx_synchronize(), cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_FALSE(capture.end()) << "or the tests below show nothing";
}

TEST_P(GpuCapture, IsNotBrokenByTheLifeOfARegion) {
  use_gpu();
  const memory::soft_gpu::Memory gpu(GetParam(), kGpuBytes);
  Capture capture;
  // The first registration makes the engine, with its context and its streams.
  use_verbs(gpu.address(), [](const char*) {});
  use_verbs(gpu.address(), [](const char*) {});
  EXPECT_TRUE(capture.end());
}

TEST_P(GpuCapture, OfAnotherThreadIsNotBrokenByTheLifeOfARegion) {
  use_gpu();
  const memory::soft_gpu::Memory gpu(GetParam(), kGpuBytes);
  Capture capture;
  std::thread([&] { use_verbs(gpu.address(), [](const char*) {}); }).join();
  EXPECT_TRUE(capture.end());
}

TEST_P(GpuCapture, IsNotBrokenByTheRegistrationOfADmaBuf) {
  Loopback loop;
  const memory::soft_gpu::Memory gpu(GetParam(), kGpuBytes);
  int descriptor = -1;
  const auto exported = driver().mem_get_handle_for_address_range(
      &descriptor, gpu.address(), kGpuBytes, cuda::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  if (exported != CUDA_SUCCESS) {
    GTEST_SKIP() << "no dma-buf of this memory: " << driver().describe(exported);
  }
  const UniqueFd owned(descriptor);
  Capture capture;
  ibv_mr* region = ibv_reg_dmabuf_mr(loop.side.domain(), 0, kGpuBytes, gpu.address(), descriptor,
                                     static_cast<int>(kAllAccess));
  ASSERT_NE(region, nullptr);
  Memory& host = loop.side.memory(100);
  loop.write(host.segment(0, 100), {gpu.address(), kGpuBytes, region->rkey}, 0);
  loop.side.expect(IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
  EXPECT_TRUE(capture.end());
}

// In both processes: the initiator opens the memory, or the owner copies for it.
TEST_P(GpuCapture, IsNotBrokenByAPeerAtEitherEnd) {
  Child child([](Wire& wire) {
    be_gpu_target(wire, GetParam(), kGpuBytes, [&](GpuMemory& gpu, Side&) {
      Capture capture;
      wire.send('.');
      (void)wire.receive<char>();
      require(capture.end(), "the owner's capture is whole");
      require(gpu.first_not(2, 50, 100'000) == -1, "what was written is there, and only that");
      wire.send('.');
    });
  });
  use_gpu();
  Side side;
  Memory& host = side.memory(100'000);
  host.fill_pattern(2, 0, 100'000);
  const GpuMemory own(side, Allocator::kMemAlloc);
  const int before = mapped_gpu_memory();
  Capture capture;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  const auto remote = child.wire().receive<Remote>();
  if (GetParam() != Allocator::kPool) {
    EXPECT_TRUE(soon([&] { return has_opened_more_than(before); }));
  }
  EXPECT_EQ(child.wire().receive<char>(), '.');
  side.write(qp, host, 0, 100'000, remote, 50);
  side.expect(IBV_WC_SUCCESS);
  EXPECT_TRUE(capture.end());
  child.wire().send('.');
  EXPECT_EQ(child.wire().receive<char>(), '.');
  child.finish();
}

INSTANTIATE_TEST_SUITE_P(Of, GpuCapture, testing::ValuesIn(kAllocators),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace gdr::test
