// GPU memory by packets, as the path's threads share the work: net/copy_thread.h.
#include "net/copy_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "base/quiet_thread.h"
#include "far_memory_client.h"
#include "memory/pinned_memory.h"
#include "packet_host.h"
#include "packets.h"
#include "soon.h"

namespace gdr::net {
namespace {

using test::PacketHost;
using test::soon;

constexpr std::uint32_t kOtherNumber = 0x300'001;
constexpr std::uint64_t kWrite = 42;

// A driver whose calls do not return while the test says so.
class SlowDriver final : public test::FarMemoryClient {
 public:
  using FarMemoryClient::start_copy;
  Result<Ticket> start_copy(Side to, Side from, std::uint64_t length, Turn) override {
    if (!is_quiet_thread()) on_program_threads = true;
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    on_copy_thread = std::string_view(name) == "gdr-net-copy";
    ++calls;
    while (is_slow) usleep(100);
    // The test looks on from its own thread.
    for (std::uint64_t i = 0; i < length; ++i) {
      const auto* byte = reinterpret_cast<const std::uint8_t*>(from.address + i);
      __atomic_store_n(reinterpret_cast<std::uint8_t*>(to.address + i),
                       __atomic_load_n(byte, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    }
    return Ticket{1};
  }
  Result<bool> finished(Ticket) override {
    if (!is_quiet_thread()) on_program_threads = true;
    return true;
  }

  std::atomic<bool> is_slow{false}, on_program_threads{false};
  std::atomic<bool> on_copy_thread{false};  // the last call
  std::atomic<int> calls{0};
};

// One for all tests: its threads never end.
class CopyThreadTest : public testing::Test {
 protected:
  struct Machine {
    Machine() : host(("soft0/ip=" + to_string(address_of_this_test(2))).c_str()) {
      // Packets for GPU memory need a path that has something beyond the host.
      first = host.queue_pair(IBV_QPT_RC);
      host.connect(*first, address_of_this_test(1), kOtherNumber);
      auto pinned = *memory::PinnedMemory::pin_with(driver, gpu_address(), sizeof gpu, true);
      rnic::RegionAttributes attributes{};
      attributes.iova = gpu_address();
      attributes.length = sizeof gpu;
      attributes.protection_domain = host.domain();
      attributes.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
      host.path().serves_memory_of(driver);
      gpu_key = *host.adapter().regions().add(rnic::Backing(std::move(pinned)), attributes);
    }
    std::uint64_t gpu_address() const { return reinterpret_cast<std::uint64_t>(&gpu); }

    PacketHost host;
    SlowDriver driver;
    std::shared_ptr<rnic::QueuePair> first;
    std::atomic<std::uint64_t> gpu[8]{};
    std::uint32_t gpu_key = 0;
  };

  CopyThreadTest() {
    peer_.reset(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const SocketAddress own = socket_address(there_, wire::kRocePort);
    EXPECT_EQ(bind(peer_.get(), own.get(), own.length), 0);
    const timeval patience{100, 0};
    EXPECT_EQ(setsockopt(peer_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  }
  static Machine& machine() {
    static Machine& machine = *new Machine;
    return machine;
  }
  std::shared_ptr<rnic::QueuePair> connected() {
    auto queue_pair = machine().host.queue_pair(IBV_QPT_RC);
    machine().host.connect(*queue_pair, there_, kOtherNumber);
    return queue_pair;
  }
  static int post_write_from_gpu(rnic::QueuePair& queue_pair) {
    ibv_sge segment{machine().gpu_address() + 8, 8, machine().gpu_key};
    ibv_send_wr request{}, *bad = nullptr;
    request.wr_id = kWrite;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED;
    request.sg_list = &segment;
    request.num_sge = 1;
    return queue_pair.post_send(&request, const_cast<const ibv_send_wr**>(&bad));
  }
  void send(const Bytes& bytes) const {
    SocketAddress to = socket_address(here_, wire::kRocePort);
    ASSERT_EQ(sendto(peer_.get(), bytes.data(), bytes.size(), 0, to.get(), to.length),
              static_cast<ssize_t>(bytes.size()));
  }
  // Until the memory is there that packets go through, each is copied where it is taken.
  void warm_up() {
    auto queue_pair = connected();
    std::uint32_t psn = 0;
    EXPECT_TRUE(soon([&] {
      send(make_write(flow_, queue_pair->number(), psn++, machine().gpu_address() + 56,
                      machine().gpu_key, std::byte{1}));
      return machine().driver.on_copy_thread.load();
    }));
    machine().host.adapter().destroy_queue_pair(*queue_pair);
  }
  static std::uint64_t eight(std::uint8_t value) { return value * 0x0101'0101'0101'0101u; }

  const wire::Address here_ = address_of_this_test(2), there_ = address_of_this_test(1);
  const wire::Flow flow_ = flow_between(there_, here_);
  UniqueFd peer_;
};

TEST_F(CopyThreadTest, ArrivalsDoNotWaitForTheDriver) {
  Machine& on = machine();
  warm_up();
  auto to_gpu = connected(), to_host = connected();
  on.gpu[0] = 0;
  on.driver.is_slow = true;
  const int before = on.driver.calls;
  send(make_write(flow_, to_gpu->number(), 0, on.gpu_address(), on.gpu_key, std::byte{5}));
  EXPECT_TRUE(soon([&] { return on.driver.calls > before; }));
  for (std::uint32_t i = 0; i < 10; ++i) {
    send(make_write(flow_, to_host->number(), i, on.host.address() + i, on.host.key(),
                    std::byte{6}));
  }
  EXPECT_TRUE(soon([&] { return on.host.byte_at(16) == std::byte{6}; }));
  EXPECT_EQ(on.gpu[0], 0u);
  on.driver.is_slow = false;
  EXPECT_TRUE(soon([&] { return on.gpu[0] == eight(5); }));
  for (const auto& each : {to_gpu, to_host}) on.host.adapter().destroy_queue_pair(*each);
}

// As hardware acknowledges before it interrupts: see README.md.
TEST_F(CopyThreadTest, AnswersDoNotWaitForTheCopyThread) {
  Machine& on = machine();
  warm_up();
  auto to_gpu = connected(), busy = connected();
  std::byte got[256];
  while (recv(peer_.get(), got, sizeof got, MSG_DONTWAIT) >= 0) continue;
  on.driver.is_slow = true;
  const int before = on.driver.calls;
  send(make_write(flow_, to_gpu->number(), 0, on.gpu_address(), on.gpu_key, std::byte{5}));
  EXPECT_TRUE(soon([&] { return on.driver.calls > before; }));
  ASSERT_EQ(post_write_from_gpu(*busy), 0);
  send(make_write(flow_, busy->number(), 0, on.host.address() + 80, on.host.key(), std::byte{9}));
  const ssize_t bytes = recv(peer_.get(), got, sizeof got, 0);
  on.driver.is_slow = false;
  ASSERT_GT(bytes, 0) << "nothing came while the driver was busy";
  wire::Packet answer;
  ASSERT_EQ(wire::parse(std::span(got).first(static_cast<std::size_t>(bytes)), &answer),
            wire::ParseError::kNone);
  EXPECT_EQ(answer.operation(), wire::Operation::kAcknowledge);
  EXPECT_EQ(answer.psn, 0u);
  for (const auto& each : {to_gpu, busy}) on.host.adapter().destroy_queue_pair(*each);
}

// Its queue pair is sending: it is taken when that has been done.
TEST_F(CopyThreadTest, AnAcknowledgeForABusyQueuePairHoldsUpNoArrivals) {
  Machine& on = machine();
  auto busy = connected(), other = connected();
  on.host.completions();
  ASSERT_EQ(post_write_from_gpu(*busy), 0);
  std::byte sent[256];
  ASSERT_GT(recv(peer_.get(), sent, sizeof sent, 0), 0);
  {
    const std::lock_guard sends(busy->send_lock());
    send(make_acknowledge(flow_, busy->number(), 0, 1));
    send(
        make_write(flow_, other->number(), 0, on.host.address() + 64, on.host.key(), std::byte{8}));
    EXPECT_TRUE(soon([&] { return on.host.byte_at(64) == std::byte{8}; }));
  }
  std::vector<rnic::SharedCompletion> done;
  EXPECT_TRUE(soon([&] { return done = on.host.completions(), !done.empty(); }));
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, kWrite);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  for (const auto& each : {busy, other}) on.host.adapter().destroy_queue_pair(*each);
}

TEST_F(CopyThreadTest, TheProgramsThreadsDoNotCallTheDriver) {
  Machine& on = machine();
  auto queue_pair = connected();
  on.driver.on_program_threads = false;
  const int before = on.driver.calls;
  ASSERT_EQ(post_write_from_gpu(*queue_pair), 0);
  send(make_write(flow_, queue_pair->number(), 0, on.gpu_address() + 16, on.gpu_key, std::byte{7}));
  const bool placed = soon([&] {
    on.host.path().progress();
    return on.gpu[2] == eight(7) && on.driver.calls >= before + 2;
  });
  EXPECT_TRUE(placed);
  EXPECT_FALSE(on.driver.on_program_threads);
  on.host.adapter().destroy_queue_pair(*queue_pair);
}

}  // namespace
}  // namespace gdr::net
