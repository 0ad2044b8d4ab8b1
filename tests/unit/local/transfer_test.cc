// Transfers with a peer-memory client whose copies end late and out of their order: every byte gets
// there, and failures and drains leave nothing in flight.
#include <sys/mman.h>

#include <algorithm>

#include "memory/fault_guard.h"
#include "missing_pages.h"
#include "transfer_fixture.h"

namespace gdr::local {
namespace {

TEST_F(TransferTest, MovesEveryByteBetweenGpuMemoryOfThisProcessCutDifferently) {
  const Outcome outcome = run(list(from_, pinned_from_.get(), {1, 70'000, 1'000'000}),
                              list(to_, pinned_to_.get(), {65'536, 65'537}), nullptr);
  EXPECT_EQ(outcome.error, 0);
  EXPECT_TRUE(from_ == to_);
}

TEST_F(TransferTest, MovesEveryByteThroughStagingFromTheGpuToAnotherProcess) {
  const auto peer = self_as_peer();
  const Outcome outcome = run(list(from_, pinned_from_.get(), {1, 70'000, 1'000'000}),
                              elsewhere(to_, {65'536, 65'537}), peer.get());
  EXPECT_EQ(outcome.error, 0);
  EXPECT_TRUE(from_ == to_);
  EXPECT_GT(client_.most, 4u) << "many chunks fill at once";
}

TEST_F(TransferTest, MovesEveryByteThroughStagingFromAnotherProcessToTheGpu) {
  const auto peer = self_as_peer();
  const Outcome outcome = run(elsewhere(from_, {999'999}),
                              list(to_, pinned_to_.get(), {3, 524'288, 1'048'577}), peer.get());
  EXPECT_EQ(outcome.error, 0);
  EXPECT_TRUE(from_ == to_);
}

TEST_F(TransferTest, ACopyThatCannotStartOrBreaksOffIsTheOutcomeAndNothingStaysInFlight) {
  const auto peer = self_as_peer();
  for (int at = 0; at < 4; ++at) {
    client_.started = 0;
    client_.fail_at = at;
    EXPECT_EQ(run(list(from_, pinned_from_.get(), {}), elsewhere(to_, {}), peer.get()).error,
              EFAULT);
    EXPECT_EQ(client_.in_flight(), 0u);
    client_.started = 0;
    client_.fail_at = -1, client_.fail_end = at + 1;
    const Outcome outcome =
        run(list(from_, pinned_from_.get(), {}), elsewhere(to_, {}), peer.get());
    EXPECT_EQ(outcome.error, EIO);
    EXPECT_FALSE(outcome.remote);  // this process's GPU was at fault
    EXPECT_EQ(client_.in_flight(), 0u);
    client_.fail_end = -1;
  }
}

// A driver that is given such memory would end the program where pages are missing.
TEST_F(TransferTest, NeverHandsMemoryWhosePagesMayBeMissingToTheClient) {
  void* pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  Piece missing = piece_at(static_cast<std::uint8_t*>(pages), kBytes);
  missing.on_demand = missing.remote = true;
  PieceList there;
  there.add(missing);
  EXPECT_EQ(run(list(from_, pinned_from_.get(), {}), there, nullptr).error, 0);
  EXPECT_EQ(std::memcmp(pages, from_.data(), kBytes), 0);
  ASSERT_EQ(munmap(pages, kBytes), 0);
  const Outcome outcome = run(list(from_, pinned_from_.get(), {}), there, nullptr);
  EXPECT_EQ(outcome.error, EFAULT);
  EXPECT_TRUE(outcome.remote);
}

// Registered as ordinary memory, and unmapped since: a driver stages it by loads and stores.
TEST_F(TransferTest, HandsMemoryThatIsGoneToNoClientAndTellsWhoseItIs) {
  constexpr std::uint64_t kPage = 4096, kHole = 16 * kPage, kLong = std::uint64_t{512} << 10;
  memory::catch_faults();
  void* pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_TRUE(test::take_pages_away(static_cast<std::uint8_t*>(pages) + kHole, kPage));
  client_.host_is_locked = false;
  for (const bool is_remote : {false, true}) {
    for (const std::uint64_t bytes : {2 * kPage, kLong}) {
      Piece gone = piece_at(static_cast<std::uint8_t*>(pages) + kHole - kPage, bytes);
      gone.remote = is_remote;
      PieceList host, gpu = list(to_, pinned_to_.get(), {});
      host.add(gone);
      gpu.truncate(bytes);
      client_.started = 0;
      const Outcome outcome = run(host, gpu, nullptr);
      EXPECT_EQ(outcome.error, EFAULT);
      EXPECT_EQ(outcome.remote, is_remote);
      EXPECT_EQ(client_.started, 0);
    }
  }
  munmap(pages, kBytes);
}

// A program that polls the last byte may use all others: where bytes are carried by threads, and
// where they go to a GPU whose copies end in any order.
TEST_F(TransferTest, TheLastByteArrivesLast) {
  const auto peer = self_as_peer();
  crew_.emplace(3);
  for (int round = 0; round < 20; ++round) {
    client_.ended.clear();
    ASSERT_EQ(run(elsewhere(from_, {}), list(to_, pinned_to_.get(), {}), peer.get()).error, 0);
    ASSERT_TRUE(from_ == to_);
    EXPECT_EQ(client_.ended.back(), *std::max_element(client_.ended.begin(), client_.ended.end()));
    std::fill(to_.begin(), to_.end(), std::uint8_t{0xa5});
    from_.back() = static_cast<std::uint8_t>(round);
    Transfer transfer;
    const PieceList from = list(from_, pinned_from_.get(), {}), to = elsewhere(to_, {});
    ASSERT_TRUE(transfer.begin(from, to, {peer.get(), kHeld}, kToken, means()));
    while (*const_cast<volatile std::uint8_t*>(&to_.back()) != from_.back()) {
      if (transfer.poll()) break;
    }
    EXPECT_TRUE(from_ == to_) << "round " << round;
    transfer.drain();
  }
}

TEST_F(TransferTest, ThreadsOfTheCrewMoveEveryByteAndAreTakenBackFromWhenDraining) {
  const auto peer = self_as_peer();
  crew_.emplace(4);
  ASSERT_EQ(
      run(list(from_, pinned_from_.get(), {1, 70'000}), elsewhere(to_, {65'536}), peer.get()).error,
      0);
  EXPECT_TRUE(from_ == to_);
  for (int polls = 0; polls < 60; ++polls) {
    to_.assign(kBytes, 0xa5);
    Transfer transfer;
    ASSERT_TRUE(transfer.begin(list(from_, pinned_from_.get(), {}), elsewhere(to_, {}),
                               {peer.get(), kHeld}, kToken, means()));
    for (int i = 0; i < polls; ++i) {
      if (transfer.poll()) break;
    }
    transfer.drain();
    EXPECT_EQ(client_.in_flight(), 0u);
    const std::vector<std::uint8_t> then = to_;
    usleep(200);
    EXPECT_TRUE(then == to_) << "bytes moved after drain() had returned";
  }
}

// A driver would stage it by one thread; memory that the program has locked goes directly.
TEST_F(TransferTest, MemoryThatIsNotLockedGoesThroughTheCrewOnceItsStagingIs) {
  crew_.emplace(2);
  const PieceList gpu = list(to_, pinned_to_.get(), {}), host = list(from_, nullptr, {});
  const auto copies_of = [&](std::uint64_t bytes) {
    PieceList from = host, to = gpu;
    from.truncate(bytes), to.truncate(bytes);
    to_.assign(kBytes, 0xa5);
    client_.started = 0;
    EXPECT_EQ(run(from, to, nullptr).error, 0);
    EXPECT_EQ(std::memcmp(from_.data(), to_.data(), bytes), 0);
    return client_.started;
  };
  client_.host_is_locked = false;
  EXPECT_EQ(copies_of(kBytes), 1) << "the staging is not locked yet";
  staging_->lock_pages(client_);
  EXPECT_GT(copies_of(kBytes), 4);
  EXPECT_EQ(copies_of(4096), 1) << "so few are the driver's";
  client_.host_is_locked = true;
  EXPECT_EQ(copies_of(kBytes), 1);
  client_.host_is_locked = false;
  crew_.emplace(0);
  EXPECT_EQ(copies_of(kBytes), 1) << "nobody would be quicker than the driver";
}

// Other transfers may fill the client's queue: no error, but a wait.
TEST_F(TransferTest, MovesEveryByteThroughAClientThatHasTooMuchInFlight) {
  client_.crowded = true, client_.room = 1;
  const auto peer = self_as_peer();
  EXPECT_EQ(
      run(list(from_, pinned_from_.get(), {1, 70'000}), elsewhere(to_, {65'536}), peer.get()).error,
      0);
  EXPECT_TRUE(from_ == to_);
  to_.assign(kBytes, 0xa5);
  EXPECT_EQ(run(list(from_, pinned_from_.get(), {1, 70'000}), list(to_, pinned_to_.get(), {65'536}),
                nullptr)
                .error,
            0);
  EXPECT_TRUE(from_ == to_);
  EXPECT_GT(client_.refused, 4);
}

TEST_F(TransferTest, MemoryFreedUnderItsRegistrationIsNotTouched) {
  client_.valid = false;
  EXPECT_EQ(
      run(list(from_, pinned_from_.get(), {}), list(to_, pinned_to_.get(), {}), nullptr).error,
      EFAULT);
  EXPECT_EQ(client_.started, 0);
}

TEST_F(TransferTest, DrainingLeavesNothingInFlightAndGivesItsStagingBack) {
  const auto peer = self_as_peer();
  for (std::size_t i = 0; i < 2 * Staging::kChunks; ++i) {
    Transfer transfer;
    ASSERT_TRUE(transfer.begin(list(from_, pinned_from_.get(), {}), elsewhere(to_, {}),
                               {peer.get(), kHeld}, kToken, means()));
    EXPECT_FALSE(transfer.poll());
    EXPECT_GT(client_.in_flight(), 0u);
    transfer.drain();
    EXPECT_EQ(client_.in_flight(), 0u);
  }
}

}  // namespace
}  // namespace gdr::local
