// The CUDA client over the software GPU: lifetimes by scenario and allocator.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/unique_fd.h"
#include "memory/pinned_memory.h"
#include "open_descriptors.h"
#include "soft_gpu.h"

namespace gdr::memory {
namespace {

using soft_gpu::Allocator;
using soft_gpu::driver;
using soft_gpu::Memory;
using soft_gpu::pattern;
using soft_gpu::WithSoftGpu;

constexpr std::uint64_t kBytes = 4 << 20;

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// 0 once the bytes are there, or the errno of whoever refused.
using Side = PeerMemoryClient::Side;

Side host(const void* pointer) { return {address_of(pointer), nullptr}; }

int copy(PeerMemoryClient& client, Side to, Side from, std::uint64_t length) {
  const auto ticket = client.start_copy(to, from, length);
  if (!ticket) return ticket.error().code;
  while (true) {
    const auto done = client.finished(*ticket);
    if (!done) return done.error().code;
    if (*done) return 0;
  }
}

class CudaMemory : public WithSoftGpu, public testing::WithParamInterface<Allocator> {};

TEST_P(CudaMemory, BelongsToTheCudaClientAndIsNotForTheCpu) {
  const Memory memory(GetParam(), kBytes);
  auto pinned = PinnedMemory::pin(memory.address(), kBytes, true);
  ASSERT_TRUE(pinned) << pinned.error().message;
  EXPECT_STREQ((*pinned)->client().name(), "cuda");
  EXPECT_FALSE((*pinned)->cpu_reachable());
  EXPECT_TRUE((*pinned)->still_valid());
  EXPECT_EQ((*pinned)->address(), memory.address());
}

// NCCL registers its buffers by hundreds, and many a program may have no more than 1,024
// descriptors.
TEST_P(CudaMemory, OfOneAllocationTakesOneDescriptorHoweverManyRegionsLieInIt) {
  const Memory memory(GetParam(), kBytes);
  const int before = test::open_descriptors();
  std::vector<std::unique_ptr<PinnedMemory>> regions;
  for (int i = 0; i < 100; ++i) {
    auto pinned = PinnedMemory::pin(memory.address() + i * 4096, 4096, true);
    ASSERT_TRUE(pinned) << pinned.error().message;
    regions.push_back(*std::move(pinned));
  }
  EXPECT_LE(test::open_descriptors(), before + 1);
  const Exported first = regions.front()->exported();
  EXPECT_EQ(regions.back()->exported().descriptor, first.descriptor);
  EXPECT_EQ(regions.back()->exported().identity, first.identity);
  regions.erase(regions.begin());
  EXPECT_EQ(regions.back()->exported().kind, first.kind);
  EXPECT_EQ(fcntl(first.descriptor, F_GETFD) >= 0, GetParam() == Allocator::kVmm);
  regions.clear();
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST_P(CudaMemory, TakesBytesAtAnySizeAndOffsetAndNoOthers) {
  const Memory memory(GetParam(), kBytes);
  const auto background = pattern(kBytes, 1), source = pattern(kBytes, 99);
  auto pinned = PinnedMemory::pin(memory.address(), kBytes, true);
  ASSERT_TRUE(pinned);
  for (const std::size_t length :
       {1u, 2u, 3u, 7u, 4095u, 24'577u, 65'535u, 65'536u, 65'537u, 1'000'003u}) {
    for (const std::size_t offset : {0u, 1u, 65'533u}) {
      memory.fill(background);
      ASSERT_EQ(copy((*pinned)->client(), (*pinned)->side_at(memory.address() + offset),
                     host(source.data() + offset % 7), length),
                0);
      auto expected = background;
      std::copy_n(source.begin() + static_cast<long>(offset % 7), length,
                  expected.begin() + static_cast<long>(offset));
      ASSERT_TRUE(memory.read() == expected) << length << " at " << offset;
    }
  }
}

TEST_P(CudaMemory, GivesBytesAtAnySizeAndOffset) {
  const Memory memory(GetParam(), kBytes);
  const auto content = pattern(kBytes, 5);
  memory.fill(content);
  auto pinned = PinnedMemory::pin(memory.address(), kBytes, false);
  ASSERT_TRUE(pinned);
  for (const std::size_t length : {1u, 3u, 4097u, 65'537u, 3'000'001u}) {
    for (const std::size_t offset : {0u, 1u, 65'533u}) {
      std::vector<unsigned char> target(length + 2, 0xaa);
      ASSERT_EQ(copy((*pinned)->client(), host(target.data() + 1),
                     (*pinned)->side_at(memory.address() + offset), length),
                0);
      EXPECT_EQ(target.front(), 0xaa);
      EXPECT_EQ(target.back(), 0xaa);
      ASSERT_TRUE(std::equal(target.begin() + 1, target.end() - 1,
                             content.begin() + static_cast<long>(offset)));
    }
  }
}

TEST_P(CudaMemory, IsCopiedOnTheDevice) {
  const Memory from(GetParam(), kBytes), to(Allocator::kMemAlloc, kBytes);
  const auto content = pattern(kBytes, 7);
  from.fill(content);
  to.fill(pattern(kBytes, 8));
  auto one = PinnedMemory::pin(from.address(), kBytes, true);
  auto other = PinnedMemory::pin(to.address(), kBytes, true);
  ASSERT_TRUE(one);
  ASSERT_TRUE(other);
  ASSERT_EQ(copy((*one)->client(), (*other)->side_at(to.address()), (*one)->side_at(from.address()),
                 kBytes),
            0);
  EXPECT_TRUE(to.read() == content);
}

TEST_P(CudaMemory, FreedWhileRegisteredIsNoLongerValid) {
  Memory memory(GetParam(), kBytes);
  auto pinned = PinnedMemory::pin(memory.address() + 100, 1000, true);
  ASSERT_TRUE(pinned);
  ASSERT_TRUE((*pinned)->still_valid());
  const std::uint64_t address = memory.address();
  memory.free();
  EXPECT_FALSE((*pinned)->still_valid());

  // The same address with another allocation's bytes is not the memory that was registered.
  const Memory next(GetParam(), kBytes);
  EXPECT_FALSE((*pinned)->still_valid());
  RecordProperty("address_came_back", next.address() == address ? "yes" : "no");
}

TEST_P(CudaMemory, FreedUnderACopyIsRefusedAndNotTakenForHostMemory) {
  Memory memory(GetParam(), kBytes);
  const Memory bystander(Allocator::kMemAlloc, kBytes);
  auto pinned = PinnedMemory::pin(memory.address(), kBytes, true);
  ASSERT_TRUE(pinned);
  const std::uint64_t address = memory.address();
  std::vector<unsigned char> bytes(4096);
  memory.free();
  auto& client = (*pinned)->client();
  auto other = PinnedMemory::pin(bystander.address(), kBytes, true);
  ASSERT_TRUE(other);
  const std::pair<Side, Side> copies[] = {
      {(*pinned)->side_at(address), host(bytes.data())},
      {host(bytes.data()), (*pinned)->side_at(address)},
      {(*pinned)->side_at(address), (*other)->side_at(bystander.address())},
      {(*other)->side_at(bystander.address()), (*pinned)->side_at(address + kBytes - 1)}};
  for (const auto& [to, from] : copies) {
    const auto ticket = client.start_copy(to, from, 1);
    ASSERT_FALSE(ticket);
    EXPECT_EQ(ticket.error().code, EFAULT);
    // By us: a driver may take such an address for pageable host memory and touch it.
    EXPECT_EQ(ticket.error().message, "registered GPU memory was freed");
  }
}

TEST_P(CudaMemory, RangesBeyondTheAllocationAreRefused) {
  const Memory memory(GetParam(), kBytes);
  for (const std::uint64_t offset : {std::uint64_t{0}, kBytes - 1, kBytes / 2}) {
    const auto pinned = PinnedMemory::pin(memory.address() + offset, kBytes + (1 << 20), true);
    ASSERT_FALSE(pinned) << offset;
    EXPECT_EQ(pinned.error().code, EFAULT);
    EXPECT_EQ(pinned.error().message.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(PinnedMemory::pin(memory.address() + kBytes - 1, 1, true));
}

TEST_P(CudaMemory, RegistersWithoutACurrentContextAndLeavesItSo) {
  const Memory memory(GetParam(), kBytes);
  std::vector<unsigned char> bytes(512);
  int result = -1;
  cuda::CUcontext after = nullptr;
  std::thread([&] {
    auto pinned = PinnedMemory::pin(memory.address(), kBytes, true);
    if (pinned) {
      result = copy((*pinned)->client(), (*pinned)->side_at(memory.address()), host(bytes.data()),
                    bytes.size());
    }
    driver()->ctx_get_current(&after);
  }).join();
  EXPECT_EQ(result, 0);
  EXPECT_EQ(after, nullptr);
}

TEST_P(CudaMemory, LeavesTheCallersContextCurrent) {
  cuda::CUcontext before = nullptr, after = nullptr;
  ASSERT_EQ(driver()->ctx_get_current(&before), cuda::CUDA_SUCCESS);
  const Memory memory(GetParam(), kBytes);
  std::vector<unsigned char> bytes(512);
  {
    auto pinned = PinnedMemory::pin(memory.address(), kBytes, true);
    ASSERT_TRUE(pinned);
    ASSERT_EQ(
        copy((*pinned)->client(), (*pinned)->side_at(memory.address()), host(bytes.data()), 512),
        0);
  }
  ASSERT_EQ(driver()->ctx_get_current(&after), cuda::CUDA_SUCCESS);
  EXPECT_EQ(before, after);
}

TEST_P(CudaMemory, OfItsDmaBufIsReachedByAddressAndWithout) {
  const Memory memory(GetParam(), kBytes);
  int descriptor = -1;
  const auto exported = driver()->mem_get_handle_for_address_range(
      &descriptor, memory.address(), kBytes, cuda::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  if (exported != cuda::CUDA_SUCCESS) {
    GTEST_SKIP() << "no dma-buf of this memory: " << driver()->describe(exported);
  }
  const UniqueFd owned(descriptor);
  for (const bool with_hint : {true, false}) {
    auto pinned = PinnedMemory::pin_dmabuf({descriptor, 65536}, 4096,
                                           with_hint ? memory.address() + 65536 : 0, true);
    ASSERT_TRUE(pinned) << pinned.error().message;
    EXPECT_STREQ((*pinned)->client().name(), "cuda");
    EXPECT_EQ((*pinned)->address(), memory.address() + 65536);
  }
  const auto beyond = PinnedMemory::pin_dmabuf({descriptor, 65536}, kBytes, 0, true);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, EINVAL);
}

TEST_P(CudaMemory, RegisteredAndReleasedManyTimesLeavesNothing) {
  const Memory memory(GetParam(), kBytes);
  std::vector<unsigned char> bytes(1000);
  const auto cycle = [&] {
    auto pinned = PinnedMemory::pin(memory.address() + 3, 100'000, true);
    ASSERT_TRUE(pinned);
    ASSERT_EQ(copy((*pinned)->client(), (*pinned)->side_at(memory.address() + 3),
                   host(bytes.data()), 1000),
              0);
  };
  cycle();
  std::size_t free_before = 0, free_after = 0, total = 0;
  ASSERT_EQ(driver()->mem_get_info(&free_before, &total), cuda::CUDA_SUCCESS);
  const int descriptors = test::open_descriptors();
  for (int i = 0; i < 200; ++i) cycle();
  ASSERT_EQ(driver()->mem_get_info(&free_after, &total), cuda::CUDA_SUCCESS);
  EXPECT_EQ(free_after, free_before);
  EXPECT_EQ(test::open_descriptors(), descriptors);
}

std::string allocator_name(const testing::TestParamInfo<Allocator>& info) {
  if (info.param == Allocator::kMemAlloc) return "MemAlloc";
  return info.param == Allocator::kVmm ? "Vmm" : "Pool";
}
INSTANTIATE_TEST_SUITE_P(Of, CudaMemory,
                         testing::Values(Allocator::kMemAlloc, Allocator::kVmm, Allocator::kPool),
                         allocator_name);

class CudaClientTest : public WithSoftGpu {};

TEST_F(CudaClientTest, LeavesHostMemoryToTheHost) {
  std::vector<unsigned char> pageable(100'000);
  void* page_locked = nullptr;
  ASSERT_EQ(driver()->mem_host_alloc(&page_locked, 100'000, 0), cuda::CUDA_SUCCESS);
  for (const void* pointer :
       {static_cast<const void*>(pageable.data()), static_cast<const void*>(page_locked)}) {
    auto pinned = PinnedMemory::pin(address_of(pointer), 100'000, true);
    ASSERT_TRUE(pinned) << pinned.error().message;
    EXPECT_STREQ((*pinned)->client().name(), "host");
  }
  EXPECT_EQ(driver()->mem_free_host(page_locked), cuda::CUDA_SUCCESS);
}

TEST_F(CudaClientTest, RegistersAdjacentMappingsOfOneReservationTogether) {
  constexpr std::uint64_t kPart = 2 << 20;
  cuda::CUmemAllocationProp wanted{};
  wanted.type = cuda::CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {cuda::CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const cuda::CUmemAccessDesc access{wanted.location, cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  cuda::CUdeviceptr address = 0;
  ASSERT_EQ(driver()->mem_address_reserve(&address, 3 * kPart, 0, 0, 0), cuda::CUDA_SUCCESS);
  cuda::CUmemGenericAllocationHandle handles[2] = {};
  for (std::uint64_t i = 0; i < 2; ++i) {
    ASSERT_EQ(driver()->mem_create(&handles[i], kPart, &wanted, 0), cuda::CUDA_SUCCESS);
    ASSERT_EQ(driver()->mem_map(address + i * kPart, kPart, 0, handles[i], 0), cuda::CUDA_SUCCESS);
  }
  ASSERT_EQ(driver()->mem_set_access(address, 2 * kPart, &access, 1), cuda::CUDA_SUCCESS);

  const auto hole = PinnedMemory::pin(address, 3 * kPart, true);
  ASSERT_FALSE(hole);  // the reservation goes on, the memory does not
  EXPECT_EQ(hole.error().code, EFAULT);
  {
    auto pinned = PinnedMemory::pin(address + 10, 2 * kPart - 10, true);
    ASSERT_TRUE(pinned) << pinned.error().message;
    EXPECT_TRUE((*pinned)->still_valid());
    ASSERT_EQ(driver()->mem_unmap(address + kPart, kPart), cuda::CUDA_SUCCESS);
    EXPECT_FALSE((*pinned)->still_valid());  // though its first byte is as it was
  }
  EXPECT_EQ(driver()->mem_unmap(address, kPart), cuda::CUDA_SUCCESS);
  for (const auto handle : handles) EXPECT_EQ(driver()->mem_release(handle), cuda::CUDA_SUCCESS);
  EXPECT_EQ(driver()->mem_address_free(address, 3 * kPart), cuda::CUDA_SUCCESS);
}

TEST_F(CudaClientTest, TakesManyCopiesAtOnceAndEndsEachOnce) {
  const Memory memory(Allocator::kMemAlloc, kBytes);
  auto pinned = PinnedMemory::pin(memory.address(), kBytes, true);
  ASSERT_TRUE(pinned);
  auto& client = (*pinned)->client();
  const auto source = pattern(kBytes, 3);
  std::vector<PeerMemoryClient::Ticket> tickets;
  for (std::uint64_t at = 0; at < kBytes; at += 16'384) {
    const auto ticket = client.start_copy((*pinned)->side_at(memory.address() + at),
                                          host(source.data() + at), 16'384);
    ASSERT_TRUE(ticket);
    tickets.push_back(*ticket);
  }
  auto distinct = tickets;
  std::sort(distinct.begin(), distinct.end());
  EXPECT_EQ(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const auto ticket : tickets) {
    for (bool done = false; !done;) {
      const auto answer = client.finished(ticket);
      ASSERT_TRUE(answer);
      done = *answer;
    }
  }
  EXPECT_TRUE(memory.read() == source);
}

TEST_F(CudaClientTest, GoesOnWithAllItsCopiesAndTellsWhichAreOver) {
  const Memory memory(Allocator::kMemAlloc, kBytes);
  auto pinned = PinnedMemory::pin(memory.address(), kBytes, true);
  ASSERT_TRUE(pinned);
  auto& client = (*pinned)->client();
  const auto source = pattern(kBytes, 5);
  std::vector<PeerMemoryClient::Ticket> tickets;
  for (std::uint64_t at = 0; at < kBytes; at += kBytes / 4) {
    const auto ticket = client.start_copy((*pinned)->side_at(memory.address() + at),
                                          host(source.data() + at), kBytes / 4);
    ASSERT_TRUE(ticket);
    EXPECT_FALSE(client.is_over(*ticket)) << "nobody has gone on with it";
    tickets.push_back(*ticket);
  }
  const auto is_over = [&](const auto ticket) { return client.is_over(ticket); };
  while (!std::all_of(tickets.begin(), tickets.end(), is_over)) client.go_on();
  EXPECT_TRUE(memory.read() == source);
  for (const auto ticket : tickets) {
    const auto answer = client.finished(ticket);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(*answer);
    EXPECT_TRUE(client.is_over(ticket)) << "also once it is spent";
  }
}

TEST_F(CudaClientTest, EndsAShortCopyBehindALongOneOfItsSequence) {
  constexpr std::uint64_t kLong = 128 << 20;
  const Memory memory(Allocator::kMemAlloc, kLong + 4096);
  auto pinned = PinnedMemory::pin(memory.address(), kLong + 4096, true);
  ASSERT_TRUE(pinned);
  auto& client = (*pinned)->client();
  // Locked for good: copies of other memory would last as long as the call.
  auto* source = static_cast<std::uint8_t*>(
      mmap(nullptr, kLong + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(source, MAP_FAILED);
  ASSERT_TRUE(client.lock_pages(source, kLong + 4096));
  std::fill_n(source, kLong + 4096, std::uint8_t{7});
  const auto place = [&](std::uint64_t at) { return (*pinned)->side_at(memory.address() + at); };
  PeerMemoryClient::Sequence sequence;
  const auto first = client.start_copy(place(0), host(source), kLong, {&sequence});
  const auto second = client.start_copy(place(kLong), host(source + kLong), 4096, {&sequence});
  ASSERT_TRUE(first && second);
  for (bool done = false; !done;) {
    const auto answer = client.finished(*second);
    ASSERT_TRUE(answer);
    done = *answer;
  }
  const auto answer = client.finished(*first);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(*answer);
}

TEST_F(CudaClientTest, RefusesTicketsItNeverGave) {
  const Memory memory(Allocator::kMemAlloc, kBytes);
  auto pinned = PinnedMemory::pin(memory.address(), kBytes, true);
  ASSERT_TRUE(pinned);
  for (const PeerMemoryClient::Ticket ticket :
       {PeerMemoryClient::Ticket{0xffffffff}, PeerMemoryClient::Ticket{63} << 32,
        ~PeerMemoryClient::Ticket{0}}) {
    const auto answer = (*pinned)->client().finished(ticket);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, EINVAL);
  }
}

}  // namespace
}  // namespace gdr::memory
