// Many requests of one queue pair between GPU memories at a time: their copies follow each other
// without waiting, and nothing of that is to be seen but its speed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/clock.h"
#include "gpu_side.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = kGpuBytes;
constexpr int kInFlight = 16;

// A queue pair to a target whose memory is open here, and memory of this process's own.
struct Writer {
  // `theirs`: what the target's memory is from.
  Writer(Child& child, Allocator theirs)
      : own(side, Allocator::kMemAlloc), host(side.memory(kBytes)) {
    const int before = mapped_gpu_memory();
    qp = side.queue_pair(IBV_QPT_RC, 64, true);
    connect_to_target(side, qp, child.wire());
    remote = child.wire().receive<Remote>();
    require(theirs == Allocator::kPool || soon([&] { return has_opened_more_than(before); }),
            "what can be opened of the target's is");
    usleep(100'000);
  }
  void post(ibv_wr_opcode opcode, const ibv_sge& here, std::size_t there, std::uint64_t id,
            std::uint32_t key) {
    ibv_send_wr request{};
    request.wr_id = id;
    request.opcode = opcode;
    request.imm_data = static_cast<std::uint32_t>(id);
    request.wr.rdma = {remote.address + there, key};
    side.post(qp, request, {here});
  }

  Side side;
  GpuMemory own;
  Memory& host;
  ibv_qp* qp = nullptr;
  Remote remote{};
};

struct UsedGpu {
  UsedGpu() { use_gpu(); }
};

class GpuFlow : public testing::TestWithParam<Allocator> {};

// Each is laid over parts of those before it, short behind long and long behind short, from the
// GPU and from the host, so that any other order leaves other bytes.
TEST_P(GpuFlow, WritesArriveInTheOrderInWhichTheyWerePosted) {
  constexpr int kWrites = 600;
  Child child([](Wire& wire) {
    be_gpu_target(wire, GetParam(), kBytes, [&](GpuMemory& gpu, Side&) {
      (void)wire.receive<char>();
      const std::vector<unsigned char> bytes = gpu.memory().read();
      wire.send_bytes(bytes.data(), bytes.size());
      (void)wire.receive<char>();
    });
  });
  const UsedGpu used;
  Writer writer(child, GetParam());
  std::mt19937_64 random(11);
  std::vector<unsigned char> content(kBytes), expected(kBytes, 0xee);
  for (unsigned char& byte : content) byte = static_cast<unsigned char>(random());
  writer.own.memory().fill(content);
  std::copy(content.rbegin(), content.rend(), writer.host.bytes());
  const std::vector<unsigned char> reversed(content.rbegin(), content.rend());
  constexpr std::size_t kLengths[] = {8, 1, 4096, 65'536, 65'537, 300'000, 1 << 20};
  int ended = 0;
  const auto end_one = [&] {
    const ibv_wc completion = writer.side.completion();
    ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
    ASSERT_EQ(completion.wr_id, static_cast<std::uint64_t>(ended++));
  };
  for (int i = 0; i < kWrites; ++i) {
    const std::size_t length = kLengths[random() % std::size(kLengths)];
    const std::size_t from = random() % (kBytes - length);
    const std::size_t to = random() % 4 * 100'000 + random() % 5000;
    const bool of_host = random() % 5 == 0;
    writer.post(IBV_WR_RDMA_WRITE,
                of_host ? writer.host.segment(from, length) : writer.own.segment(from, length), to,
                static_cast<std::uint64_t>(i), writer.remote.key);
    const auto& source = of_host ? reversed : content;
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from), length,
                expected.begin() + static_cast<std::ptrdiff_t>(to));
    if (i - ended >= kInFlight) end_one();
  }
  while (ended < kWrites) end_one();
  child.wire().send('.');
  std::vector<unsigned char> found(kBytes);
  child.wire().receive_bytes(found.data(), found.size());
  const auto wrong = std::mismatch(found.begin(), found.end(), expected.begin()).first;
  EXPECT_EQ(wrong - found.begin(), static_cast<std::ptrdiff_t>(kBytes)) << "the first wrong byte";
  child.wire().send('.');
  child.finish();
}

// A read behind a write of the same place sees it.
TEST_P(GpuFlow, ReadsSeeTheWritesBeforeThem) {
  constexpr std::size_t kLength = 200'000;
  Child child([](Wire& wire) {
    be_gpu_target(wire, GetParam(), kBytes, [&](GpuMemory&, Side&) { (void)wire.receive<char>(); });
  });
  const UsedGpu used;
  Writer writer(child, GetParam());
  GpuMemory back(writer.side, Allocator::kMemAlloc, 8 << 20);
  std::vector<unsigned char> content(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) content[i] = pattern(3, i);
  writer.own.memory().fill(content);
  for (int round = 0; round < 8; ++round) {
    for (std::size_t i = 0; i < kInFlight; ++i) {
      writer.post(IBV_WR_RDMA_WRITE, writer.own.segment(i * kLength + i, kLength), 5, i,
                  writer.remote.key);
      writer.post(IBV_WR_RDMA_READ, back.segment(i * kLength, kLength), 5, i, writer.remote.key);
    }
    for (int i = 0; i < 2 * kInFlight; ++i) writer.side.expect(IBV_WC_SUCCESS);
    const std::vector<unsigned char> found = back.memory().read();
    for (std::size_t i = 0; i < kInFlight; ++i) {
      ASSERT_TRUE(std::equal(found.begin() + static_cast<std::ptrdiff_t>(i * kLength),
                             found.begin() + static_cast<std::ptrdiff_t>((i + 1) * kLength),
                             content.begin() + static_cast<std::ptrdiff_t>(i * kLength + i)))
          << "read " << i;
    }
  }
  child.wire().send('.');
  child.finish();
}

// Whoever sees the completion has the bytes, and those of every message before it.
TEST_P(GpuFlow, MessagesCompleteInOrderWithTheirBytes) {
  constexpr std::size_t kMessages = 200, kPlaces = 8, kLength = kBytes / kPlaces;
  Child child([](Wire& wire) {
    use_gpu();
    be_target(wire, {.bytes = 4096}, [&](TargetSide target) {
      GpuMemory gpu(target.side, GetParam(), kBytes);
      for (std::size_t i = 0; i < kPlaces / 2; ++i) target.side.receive(target.qp, {}, i);
      wire.send(gpu.remote());
      for (std::size_t i = 0; i < kMessages; ++i) {
        const ibv_wc completion = target.side.completion();
        require(completion.status == IBV_WC_SUCCESS && completion.imm_data == i,
                "messages complete in order");
        const std::size_t place = i % kPlaces * kLength;
        const std::vector<unsigned char> found = gpu.memory().read();
        for (std::size_t k : {std::size_t{0}, kLength / 2, kLength - 1}) {
          require(found[place + k] == pattern(i, k), "with their bytes");
        }
        target.side.receive(target.qp, {}, i);
      }
      (void)wire.receive<char>();
    });
  });
  const UsedGpu used;
  Writer writer(child, GetParam());
  // Not more in flight than places, so that no message writes over one that is looked at.
  std::vector<std::unique_ptr<GpuMemory>> sources;
  std::vector<unsigned char> content(kLength);
  for (std::size_t i = 0; i < kPlaces; ++i) {
    sources.push_back(std::make_unique<GpuMemory>(writer.side, Allocator::kMemAlloc));
  }
  for (std::size_t i = 0; i < kMessages; ++i) {
    if (i >= kPlaces / 2) writer.side.expect(IBV_WC_SUCCESS);
    for (std::size_t k = 0; k < kLength; ++k) content[k] = pattern(i, k);
    content.resize(kGpuBytes, 0xee);
    sources[i % kPlaces]->memory().fill(content);
    content.resize(kLength);
    writer.post(IBV_WR_RDMA_WRITE_WITH_IMM, sources[i % kPlaces]->segment(0, kLength),
                i % kPlaces * kLength, i, writer.remote.key);
  }
  for (std::size_t i = 0; i < kPlaces / 2; ++i) writer.side.expect(IBV_WC_SUCCESS);
  child.wire().send('.');
  child.finish();
}

// What is behind a request that fails is flushed, and writes nothing.
TEST_P(GpuFlow, NothingBehindAFailureIsWritten) {
  Child child([](Wire& wire) {
    be_gpu_target(wire, GetParam(), kBytes, [&](GpuMemory& gpu, Side&) {
      (void)wire.receive<char>();
      require(gpu.first_not(5, 0, 300'000) == -1, "what was before it is there, and nothing else");
      wire.send('.');
      (void)wire.receive<char>();
    });
  });
  const UsedGpu used;
  Writer writer(child, GetParam());
  writer.own.fill_pattern(5, 0, 300'000);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const bool good = i < 3;
    writer.post(IBV_WR_RDMA_WRITE,
                good ? writer.own.segment(i * 100'000, 100'000) : writer.own.segment(0, 100'000),
                good ? i * 100'000 : 1 << 20, i,
                i == 3 ? writer.remote.key ^ 0x5a5a : writer.remote.key);
  }
  for (int i = 0; i < 3; ++i) writer.side.expect(IBV_WC_SUCCESS);
  writer.side.expect(IBV_WC_REM_ACCESS_ERR);
  for (int i = 4; i < 10; ++i) writer.side.expect(IBV_WC_WR_FLUSH_ERR);
  child.wire().send('.');
  EXPECT_EQ(child.wire().receive<char>(), '.');
  child.wire().send('.');
  child.finish();
}

// Also while the initiator's queue is never empty.
TEST_P(GpuFlow, NothingIsWrittenOnceTheTargetHasDeregistered) {
  Child child([](Wire& wire) {
    be_gpu_target(wire, GetParam(), kBytes, [&](GpuMemory& gpu, Side&) {
      require(soon([&] { return gpu.first_not(0, 0, 0) != -1; }), "it is written to");
      const Nanoseconds start = now();
      gpu.deregister();
      require(now() - start < 20 * kSecond, "that takes no longer than what is in flight");
      gpu.memory().fill(std::vector<unsigned char>(kBytes, 0xee));
      usleep(50'000);
      require(gpu.first_not(0, 0, 0) == -1, "nothing comes late");
      wire.send('.');
      (void)wire.receive<char>();
    });
  });
  const UsedGpu used;
  Writer writer(child, GetParam());
  writer.own.fill_pattern(5, 0, 1 << 20);
  int outstanding = 0;
  for (bool failed = false; !failed || outstanding > 0;) {
    for (; !failed && outstanding < kInFlight; ++outstanding) {
      writer.post(IBV_WR_RDMA_WRITE, writer.own.segment(0, 1 << 20), 0, 0, writer.remote.key);
    }
    failed |= writer.side.completion().status != IBV_WC_SUCCESS;
    --outstanding;
  }
  EXPECT_EQ(child.wire().receive<char>(), '.');
  child.wire().send('.');
  child.finish();
}

// The initiator's own memory: dereg_mr returns and nothing is read from there any more, nor is
// anything written after the queue pair was moved to error.
TEST_P(GpuFlow, NothingMovesOnceTheInitiatorHasMovedItsQueuePairToError) {
  Child child([](Wire& wire) {
    be_gpu_target(wire, GetParam(), kBytes, [&](GpuMemory& gpu, Side&) {
      (void)wire.receive<char>();
      gpu.memory().fill(std::vector<unsigned char>(kBytes, 0xee));
      usleep(20'000);
      require(gpu.first_not(0, 0, 0) == -1, "nothing comes late");
      wire.send('.');
      (void)wire.receive<char>();
    });
  });
  const UsedGpu used;
  Writer writer(child, GetParam());
  for (int i = 0; i < 32; ++i) {
    writer.post(IBV_WR_RDMA_WRITE, writer.own.segment(0, kBytes), 0, 0, writer.remote.key);
  }
  writer.side.expect(IBV_WC_SUCCESS);
  EXPECT_EQ(Side::move_to(writer.qp, IBV_QPS_ERR), 0);
  child.wire().send('.');
  EXPECT_EQ(child.wire().receive<char>(), '.');
  bool flushed = false;
  for (int i = 1; i < 32; ++i) {
    const ibv_wc_status status = writer.side.completion().status;
    EXPECT_TRUE(status == IBV_WC_WR_FLUSH_ERR || (status == IBV_WC_SUCCESS && !flushed));
    flushed |= status == IBV_WC_WR_FLUSH_ERR;
  }
  child.wire().send('.');
  child.finish();
}

INSTANTIATE_TEST_SUITE_P(Of, GpuFlow, testing::ValuesIn(kAllocators),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace gdr::test
