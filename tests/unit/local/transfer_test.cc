// The staged pipeline with a peer-memory client whose copies end late and out of their order.
#include "local/transfer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "far_memory_client.h"
#include "memory/pinned_memory.h"
#include "peers/doorbell.h"

namespace gdr::local {
namespace {

constexpr rnic::Token kToken = rnic::make_token(2, 9);
std::atomic<std::uint64_t> epoch{0};
const While kHeld{&epoch, 0};

// A GPU's memory as a client sees it: copies are done when they are asked about often enough, in
// any order; none is done at once.
class LateClient : public test::FarMemoryClient {
 public:
  struct Late {
    std::uint64_t to, from, length;
    int left;
    std::vector<int> behind;  // these of its sequence
  };

  // Copies end in any order, but those of a sequence in theirs.
  using FarMemoryClient::start_copy;
  Result<Ticket> start_copy(Side to, Side from, std::uint64_t length, Turn turn) override {
    if (!valid) return Error{EFAULT, "freed"};
    if (fail_at == started) return Error{EFAULT, "refused"};
    if (late_.size() >= room || (crowded && random_() % 3 != 0)) {
      ++refused;
      return Error{EAGAIN, "too many copies"};
    }
    ++started;
    late_[started] = {to.address, from.address, length, static_cast<int>(random_() % 7) + 1, {}};
    if (turn.sequence != nullptr) {
      if (!turn.may_overtake) late_[started].behind = behind_[turn.sequence];
      behind_[turn.sequence].push_back(started);
    }
    most = std::max(most, late_.size());
    return Ticket{static_cast<Ticket>(started)};
  }
  Result<bool> finished(Ticket ticket) override {
    Late& copy = late_.at(static_cast<int>(ticket));
    if (--copy.left > 0) return false;
    for (const int before : copy.behind) {
      if (late_.contains(before)) return false;
    }
    ended.push_back(copy.to);
    if (fail_end == static_cast<int>(ticket)) {
      late_.erase(static_cast<int>(ticket));
      return Error{EIO, "broke off"};
    }
    std::memcpy(reinterpret_cast<void*>(copy.to), reinterpret_cast<const void*>(copy.from),
                copy.length);
    late_.erase(static_cast<int>(ticket));
    return true;
  }
  bool is_locked(std::uint64_t, std::uint64_t) override { return host_is_locked; }
  bool lock_pages(void* memory, std::size_t bytes) override {
    locked.emplace_back(memory, bytes);
    if (while_locking) while_locking();
    return true;
  }
  std::size_t in_flight() const { return late_.size(); }

  std::vector<std::pair<void*, std::size_t>> locked;
  std::function<void()> while_locking;
  std::vector<std::uint64_t> ended;  // where what ended was written to

  bool host_is_locked = true;
  bool crowded = false;
  int started = 0, refused = 0, fail_at = -1, fail_end = -1;
  std::size_t room = 16;
  std::size_t most = 0;

 private:
  std::map<int, Late> late_;
  std::map<const Sequence*, std::vector<int>> behind_;
  std::mt19937 random_{7};
};

Piece piece_at(const std::uint8_t* bytes, std::uint64_t length,
               memory::PinnedMemory* memory = nullptr) {
  Piece piece = plain_piece(bytes, length);
  piece.memory = memory;
  return piece;
}

constexpr std::uint8_t one = 1;

class TransferTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kBytes = 5 * Staging::kChunk + 12'345;

  void SetUp() override {
    segment_ = *rnic::Segment::create(kToken, {});
    staging_.emplace(*segment_);
    crew_.emplace(0);
    from_.resize(kBytes), to_.assign(kBytes, 0xa5);
    for (std::size_t i = 0; i < kBytes; ++i) {
      from_[i] = static_cast<std::uint8_t>((i * 0x9e3779b97f4a7c15) >> 56);
    }
    pinned_from_ = pin(from_), pinned_to_ = pin(to_);
  }
  std::unique_ptr<memory::PinnedMemory> pin(std::vector<std::uint8_t>& bytes) {
    auto pinned = memory::PinnedMemory::pin_with(
        client_, reinterpret_cast<std::uint64_t>(bytes.data()), bytes.size(), true);
    EXPECT_TRUE(pinned);
    return *std::move(pinned);
  }
  // The vector cut into pieces; of GPU memory where `pinned` is given.
  static PieceList list(std::vector<std::uint8_t>& bytes, memory::PinnedMemory* pinned,
                        std::initializer_list<std::uint64_t> cuts) {
    PieceList pieces;
    std::uint64_t at = 0;
    for (const std::uint64_t cut : cuts) {
      pieces.add(piece_at(bytes.data() + at, cut - at, pinned));
      at = cut;
    }
    pieces.add(piece_at(bytes.data() + at, bytes.size() - at, pinned));
    return pieces;
  }
  // This process's memory as if it were another's that process_vm_* reaches: no byte can go there
  // but through staging.
  static PieceList elsewhere(std::vector<std::uint8_t>& bytes,
                             std::initializer_list<std::uint64_t> cuts) {
    PieceList pieces = list(bytes, nullptr, cuts);
    for (Piece& piece : pieces.pieces()) piece.where = Where::kProcess;
    return pieces;
  }
  std::shared_ptr<peers::Peer> self_as_peer() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    other_end_.reset(ends[1]);
    peers::Introduction introduction;
    introduction.token = kToken;
    introduction.segment.reset(fcntl(segment_->descriptor(), F_DUPFD_CLOEXEC, 0));
    introduction.doorbell = std::move(peers::Doorbell::make()->outer);
    auto peer = peers::Peer::meet({.pid = getpid(), .proc_pid = getpid(), .pidfd = {}},
                                  std::move(introduction), UniqueFd(ends[0]));
    EXPECT_TRUE(peer) << peer.error().message;
    return *peer;
  }

  Outcome run(const PieceList& from, const PieceList& to, peers::Peer* peer) {
    Transfer transfer;
    EXPECT_TRUE(transfer.begin(from, to, {peer, kHeld}, kToken, means()));
    for (const Nanoseconds end = now() + 20 * kSecond; now() < end;) {
      if (const auto outcome = transfer.poll()) return *outcome;
    }
    ADD_FAILURE() << "the transfer does not end";
    return {};
  }

  LateClient client_;
  std::unique_ptr<rnic::Segment> segment_;
  Means means() { return {*staging_, *crew_}; }

  std::optional<Staging> staging_;
  std::optional<CopyCrew> crew_;
  std::vector<std::uint8_t> from_, to_;
  std::unique_ptr<memory::PinnedMemory> pinned_from_, pinned_to_;
  UniqueFd other_end_;
};

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

TEST_F(TransferTest, WaitsForStagingWhenAllOfItIsInUse) {
  std::vector<std::uint64_t> chunks;
  while (const auto chunk = staging_->take()) chunks.push_back(*chunk);
  EXPECT_EQ(chunks.size(), Staging::kChunks);
  Transfer transfer;
  const auto peer = self_as_peer();
  const PieceList from = list(from_, pinned_from_.get(), {}), to = elsewhere(to_, {});
  EXPECT_FALSE(transfer.begin(from, to, {peer.get(), kHeld}, kToken, means()));
  staging_->give_back(chunks.back());
  EXPECT_TRUE(transfer.begin(from, to, {peer.get(), kHeld}, kToken, means()));
  transfer.drain();
}

// A transfer to memory that its owner's service thread has to reach; nothing is asked of it before
// the first poll.
class ServedTransferTest : public TransferTest {
 protected:
  void SetUp() override {
    TransferTest::SetUp();
    peer_ = self_as_peer();
    PieceList to = elsewhere(to_, {});
    for (Piece& piece : to.pieces()) piece.where = Where::kServed;
    ASSERT_TRUE(
        transfer_.begin(list(from_, nullptr, {}), to, {peer_.get(), kHeld}, kToken, means()));
  }
  std::optional<Outcome> poll_for(Nanoseconds time) {
    std::optional<Outcome> outcome;
    for (const Nanoseconds end = now() + time; now() < end && !outcome; usleep(1000)) {
      outcome = transfer_.poll();
    }
    return outcome;
  }
  std::shared_ptr<peers::Peer> peer_;
  Transfer transfer_;
};

// What the other process's service thread was asked for and has not begun can be taken back; what
// it has begun is waited for.
TEST_F(ServedTransferTest, DrainingTakesBackWhatItsOwnerHasNotBegun) {
  EXPECT_FALSE(transfer_.poll());
  EXPECT_EQ(rnic::service_state(segment_->service_request(0).word.load()),
            rnic::ServiceState::kAsked);
  transfer_.drain();
  EXPECT_EQ(segment_->service_request(0).word.load(), 0u);
}

TEST_F(ServedTransferTest, TheDeathOfTheOwnerEndsWhatItWasAskedFor) {
  EXPECT_FALSE(transfer_.poll());
  other_end_.reset();
  peer_->check_alive();
  const std::optional<Outcome> outcome = poll_for(kSecond);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, ESRCH);
}

// All places of the owner's table taken by others, who do not go on.
class FullTable : public ServedTransferTest {
 protected:
  void SetUp() override {
    ServedTransferTest::SetUp();
    for (std::uint32_t i = 0; i < rnic::kServiceRequests; ++i) {
      segment_->service_request(i).word.store(
          rnic::service_word(rnic::make_token(9, 9), rnic::ServiceState::kWriting));
    }
  }
};

TEST_F(FullTable, IsWaitedForNoLongerThanAnAnswer) {
  EXPECT_FALSE(poll_for(5 * kSecond));
  const std::optional<Outcome> outcome = poll_for(35 * kSecond);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, ETIMEDOUT);
}

TEST_F(FullTable, IsNotWaitedForOnceItsOwnerIsDead) {
  EXPECT_FALSE(poll_for(50 * kMillisecond));
  other_end_.reset();
  peer_->check_alive();
  const std::optional<Outcome> outcome = poll_for(kSecond);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, ESRCH);
}

TEST_F(FullTable, LetsARequestInAsSoonAsAPlaceIsFree) {
  EXPECT_FALSE(poll_for(50 * kMillisecond));
  segment_->service_request(40).word.store(0);
  EXPECT_FALSE(poll_for(50 * kMillisecond));
  EXPECT_EQ(segment_->service_request(40).word.load(),
            rnic::service_word(kToken, rnic::ServiceState::kAsked));
  transfer_.drain();
}

// As its owner frees an answer that was not fetched for long.
TEST_F(ServedTransferTest, WhoseAnswerIsGoneFailsAndFreesNoPlaceOfAnothers) {
  EXPECT_FALSE(transfer_.poll());
  const std::uint64_t others =
      rnic::service_word(rnic::make_token(9, 9), rnic::ServiceState::kAsked);
  segment_->service_request(0).word.store(others);
  const std::optional<Outcome> outcome = poll_for(kSecond);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, EPROTO);
  EXPECT_EQ(segment_->service_request(0).word.load(), others);
}

TEST(PieceList, TruncatesWithinAndBetweenPieces) {
  PieceList pieces;
  for (const std::uint64_t length : {10, 0, 20, 30}) pieces.add(piece_at(&one, length));
  EXPECT_EQ(pieces.pieces().size(), 3u);  // none that is empty
  EXPECT_EQ(pieces.bytes(), 60u);
  pieces.truncate(70);
  EXPECT_EQ(pieces.bytes(), 60u);
  pieces.truncate(30);
  EXPECT_EQ(pieces.pieces().size(), 2u);
  pieces.truncate(11);
  EXPECT_EQ(pieces.pieces().back().length, 1u);
  pieces.truncate(0);
  EXPECT_TRUE(pieces.pieces().empty());
}

TEST(PieceList, TakesNoMoreThanItHasRoomFor) {
  PieceList pieces;
  for (std::size_t i = 0; i < PieceList::kMost + 5; ++i) pieces.add(piece_at(&one, 1));
  EXPECT_EQ(pieces.pieces().size(), PieceList::kMost);
  EXPECT_EQ(pieces.bytes(), PieceList::kMost);
}

TEST_F(TransferTest, StagesForTheClientOfTheGpuMemoryThatIsHere) {
  Transfer transfer;
  const PieceList gpu = list(from_, pinned_from_.get(), {}), host = list(to_, nullptr, {});
  ASSERT_TRUE(transfer.begin(gpu, elsewhere(to_, {}), {nullptr, kHeld}, kToken, means()));
  EXPECT_EQ(transfer.stages_for(), &client_);
  transfer.drain();
  ASSERT_TRUE(transfer.begin(elsewhere(to_, {}), gpu, {nullptr, kHeld}, kToken, means()));
  EXPECT_EQ(transfer.stages_for(), &client_);
  transfer.drain();
  ASSERT_TRUE(transfer.begin(gpu, host, {nullptr, kHeld}, kToken, means()));
  EXPECT_EQ(transfer.stages_for(), nullptr) << "nothing is staged";
  transfer.drain();
}

TEST_F(TransferTest, LocksEveryFreeChunkOfTheStagingAndGivesOutNoneMeanwhile) {
  const std::optional<std::uint64_t> taken = staging_->take();
  ASSERT_TRUE(taken);
  std::set<std::uint64_t> out;
  client_.while_locking = [&] {
    if (client_.locked.size() == 1) {
      EXPECT_FALSE(staging_->take());
    }
  };
  staging_->lock_pages(client_);
  std::set<void*> places;
  for (const auto& [place, bytes] : client_.locked) {
    EXPECT_EQ(bytes, Staging::kChunk);
    EXPECT_NE(place, staging_->at(*taken)) << "somebody is using it";
    EXPECT_TRUE(places.insert(place).second) << "locked twice";
  }
  EXPECT_EQ(places.size(), Staging::kChunks - 1);
  staging_->give_back(*taken);
  for (std::size_t i = 1; i < Staging::kChunks; ++i) {
    EXPECT_TRUE(out.insert(staging_->take().value_or(*taken)).second) << "given out twice";
  }
  EXPECT_FALSE(out.contains(*taken)) << "what is locked comes first";
  while (const std::optional<std::uint64_t> chunk = staging_->take()) {
    EXPECT_TRUE(out.insert(*chunk).second) << "given out twice";
  }
  EXPECT_EQ(out.size(), Staging::kChunks);
}

}  // namespace
}  // namespace gdr::local
