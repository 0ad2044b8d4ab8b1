// The driver sends copies of few bytes from the host through the compute channel, behind whatever
// kernel runs. A kernel that waits for such bytes would wait for ever: nothing that the software
// NIC does with GPU memory may go that way. A stream that waits for a value in memory stands for
// the kernel here; tests/gpu/spinning_kernel.cc has a true one, for machines with a GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <memory>

#include "gpu_side.h"

namespace gdr::test {
namespace {

using cuda::CUDA_SUCCESS;

const cuda::Driver& driver() { return *memory::soft_gpu::driver(); }

// Holds the compute channel until it is released, or a word in memory is 1.
class Spinning {
 public:
  // Spins on its own page-locked memory.
  Spinning() {
    EXPECT_EQ(driver().mem_host_alloc(&word_, sizeof(std::uint32_t), 0), CUDA_SUCCESS);
    std::memset(word_, 0, sizeof(std::uint32_t));
    cuda::CUdeviceptr address = 0;
    EXPECT_EQ(driver().mem_host_get_device_pointer(&address, word_, 0), CUDA_SUCCESS);
    spin_on(address);
  }
  // Spins on GPU memory, at a multiple of four.
  explicit Spinning(cuda::CUdeviceptr address) { spin_on(address); }
  ~Spinning() {
    release();
    EXPECT_EQ(driver().stream_synchronize(stream_), CUDA_SUCCESS);
    EXPECT_EQ(driver().stream_destroy(stream_), CUDA_SUCCESS);
    if (word_ == nullptr) return;
    EXPECT_EQ(driver().mem_free_host(word_), CUDA_SUCCESS);
  }
  bool is_over() const { return driver().stream_query(stream_) == CUDA_SUCCESS; }

 private:
  void spin_on(cuda::CUdeviceptr address) {
    address_ = address;
    EXPECT_EQ(driver().stream_create(&stream_, cuda::CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    EXPECT_EQ(driver().stream_wait_value_32(stream_, address, 1, cuda::CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
    usleep(20'000);  // until it spins
    EXPECT_FALSE(is_over());
  }
  // By a way that nothing holds up.
  void release() {
    cuda::CUstream other = nullptr;
    EXPECT_EQ(driver().stream_create(&other, cuda::CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    EXPECT_EQ(driver().stream_write_value_32(other, address_, 1, 0), CUDA_SUCCESS);
    EXPECT_EQ(driver().stream_synchronize(other), CUDA_SUCCESS);
    EXPECT_EQ(driver().stream_destroy(other), CUDA_SUCCESS);
  }
  void* word_ = nullptr;
  cuda::CUdeviceptr address_ = 0;
  cuda::CUstream stream_ = nullptr;
};

constexpr std::size_t kLengths[] = {
    1,    2,    3,    4,      5,      7,      8,      63,     64,     65,     255,    256,    257,
    4095, 4096, 4097, 24'575, 24'576, 24'577, 32'768, 65'534, 65'535, 65'536, 65'537, 200'001};
constexpr std::size_t kMost = 200'001;
constexpr std::size_t kSlot = 256 << 10;
constexpr std::size_t kBytes = 8 << 20;
static_assert(std::size(kLengths) * kSlot <= kBytes);

// The i-th message's place: never aligned, and its neighbours are watched.
std::size_t place_of(std::size_t i) { return i * kSlot + 2 * i + 1; }

void expect_every_message(GpuMemory& gpu) {
  std::vector<unsigned char> wanted(kBytes, 0xee);
  for (std::size_t i = 0; i < std::size(kLengths); ++i) {
    for (std::size_t k = 0; k < kLengths[i]; ++k) wanted[place_of(i) + k] = pattern(i, k);
  }
  require(gpu.memory().read() == wanted, "those bytes are there, and no others");
}

// One after the other, each from a source of the pattern that belongs to it.
template <typename Post>
void move_every_message(Side& side, Memory& host, Post&& post) {
  for (std::size_t i = 0; i < std::size(kLengths); ++i) {
    SCOPED_TRACE(testing::Message() << kLengths[i] << " bytes");
    host.fill_pattern(i, 0, kLengths[i]);
    post(i, host.segment(0, kLengths[i]));
    side.expect(IBV_WC_SUCCESS);
  }
}

class ComputeChannel : public testing::TestWithParam<Allocator> {
 protected:
  // Whether this driver has what the tests hold the channel with.
  static bool can_spin() { return driver().stream_wait_value_32 != nullptr; }
};
#define SKIP_UNLESS_IT_CAN_SPIN() \
  if (!can_spin()) GTEST_SKIP() << "this driver has no cuStreamWaitValue32 (CUDA 11.7)"

// Every message within this process, by `post`, while the channel is held.
template <typename Post>
void expect_messages_beside(Allocator allocator, Loopback& loop, Post&& post) {
  Memory& host = loop.side.memory(kMost);
  GpuMemory gpu(loop.side, allocator, kBytes);
  {
    const Spinning spinning;
    move_every_message(loop.side, host,
                       [&](std::size_t i, const ibv_sge& from) { post(i, from, host, gpu); });
    EXPECT_FALSE(spinning.is_over());
  }
  expect_every_message(gpu);
}

TEST_P(ComputeChannel, ThatIsHeldHoldsUpNoWriteWithinTheProcess) {
  Loopback loop;
  SKIP_UNLESS_IT_CAN_SPIN();
  expect_messages_beside(GetParam(), loop,
                         [&](std::size_t i, const ibv_sge& from, Memory&, GpuMemory& gpu) {
                           loop.write(from, gpu.remote(), place_of(i));
                         });
}

TEST_P(ComputeChannel, ThatIsHeldHoldsUpNoReadIntoGpuMemory) {
  Loopback loop;
  SKIP_UNLESS_IT_CAN_SPIN();
  expect_messages_beside(GetParam(), loop,
                         [&](std::size_t i, const ibv_sge& from, Memory& host, GpuMemory& gpu) {
                           loop.read(gpu.segment(place_of(i), from.length), host.remote(), 0);
                         });
}

TEST_P(ComputeChannel, DoesNotDelayMessagesReceivedIntoGpuMemoryWhenHeld) {
  Loopback loop;
  SKIP_UNLESS_IT_CAN_SPIN();
  expect_messages_beside(
      GetParam(), loop, [&](std::size_t i, const ibv_sge& from, Memory&, GpuMemory& gpu) {
        loop.side.receive(loop.qp, {gpu.segment(place_of(i), from.length)});
        ibv_send_wr request{};
        request.opcode = IBV_WR_SEND;
        loop.side.post(loop.qp, request, {from});
        loop.side.expect(IBV_WC_SUCCESS);  // and the other one is awaited by the caller
      });
}

TEST_P(ComputeChannel, ThatIsHeldHoldsUpNoAtomicInGpuMemory) {
  Loopback loop;
  SKIP_UNLESS_IT_CAN_SPIN();
  Memory& host = loop.side.memory(8);
  GpuMemory gpu(loop.side, GetParam());
  gpu.memory().fill(std::vector<unsigned char>(kGpuBytes, 0));
  const Spinning spinning;
  for (const std::uint64_t before : {0, 5, 10}) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    request.wr.atomic.remote_addr = gpu.memory().address() + 64;
    request.wr.atomic.rkey = gpu.remote().key;
    request.wr.atomic.compare_add = 5;
    loop.side.post(loop.qp, request, {host.segment(0, 8)});
    loop.side.expect(IBV_WC_SUCCESS);
    std::uint64_t found = ~0ull;
    std::memcpy(&found, host.bytes(), 8);
    EXPECT_EQ(found, before);
  }
  EXPECT_FALSE(spinning.is_over());
}

// The deadlock itself: what is waited for is what is written.
TEST_P(ComputeChannel, IsReleasedByTheVeryBytesThatItWaitsFor) {
  if (is_real_gpu() && GetParam() == Allocator::kPool) {
    GTEST_SKIP() << "a genuine driver waits for no value in memory of pools";
  }
  Loopback loop;
  SKIP_UNLESS_IT_CAN_SPIN();
  Memory& host = loop.side.memory(4);
  host.fill(0);
  host.bytes()[0] = 1;
  for (const std::size_t length : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
    GpuMemory gpu(loop.side, GetParam());
    gpu.memory().fill(std::vector<unsigned char>(kGpuBytes, 0));
    const Spinning spinning(gpu.memory().address() + 128);
    loop.write(host.segment(0, length), gpu.remote(), 128);
    loop.side.expect(IBV_WC_SUCCESS);
    EXPECT_TRUE(soon([&] { return spinning.is_over(); })) << length;
  }
}

// By whoever copies: the initiator where it can open the memory, its owner otherwise. Either may be
// the one whose kernel runs.
TEST_P(ComputeChannel, DoesNotDelayWritesWhenHeldInBothProcesses) {
  Child child([](Wire& wire) {
    be_gpu_target(wire, GetParam(), kBytes, [&](GpuMemory& gpu, Side&) {
      const bool can_spin = driver().stream_wait_value_32 != nullptr;
      {
        const auto spinning = can_spin ? std::make_unique<Spinning>() : nullptr;
        wire.send('.');
        (void)wire.receive<char>();
      }
      if (can_spin) expect_every_message(gpu);
      wire.send('.');
    });
  });
  use_gpu();
  SKIP_UNLESS_IT_CAN_SPIN();
  Side side;
  Memory& host = side.memory(kMost);
  const GpuMemory own(side, Allocator::kMemAlloc);
  const int before = mapped_gpu_memory();
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  connect_to_target(side, qp, child.wire());
  const auto remote = child.wire().receive<Remote>();
  if (GetParam() != Allocator::kPool) {
    ASSERT_TRUE(soon([&] { return has_opened_more_than(before); }));
  }
  EXPECT_EQ(child.wire().receive<char>(), '.');
  {
    const Spinning spinning;
    move_every_message(side, host, [&](std::size_t i, const ibv_sge& from) {
      ibv_send_wr request{};
      request.opcode = IBV_WR_RDMA_WRITE;
      request.wr.rdma = {remote.address + place_of(i), remote.key};
      side.post(qp, request, {from});
    });
    EXPECT_FALSE(spinning.is_over());
  }
  child.wire().send('.');
  EXPECT_EQ(child.wire().receive<char>(), '.');
  child.finish();
}

INSTANTIATE_TEST_SUITE_P(Of, ComputeChannel, testing::ValuesIn(kAllocators),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace gdr::test
