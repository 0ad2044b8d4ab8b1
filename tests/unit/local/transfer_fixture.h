// TransferTest: two buffers that transfers go between, as GPU memory of this process, as its own or
// as another's, with staging and a crew without threads.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>

#include "late_client.h"
#include "local/transfer.h"
#include "peers/doorbell.h"
#include "soon.h"

namespace gdr::local {

class TransferTest : public testing::Test {
 protected:
  static constexpr rnic::Token kToken = rnic::make_token(2, 9);
  static constexpr std::uint64_t kBytes = 5 * Staging::kChunk + 12'345;
  static inline std::atomic<std::uint64_t> epoch{0};
  static inline const While kHeld{&epoch, 0};

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
    for (const Nanoseconds end = now() + test::kLastResort; now() < end;) {
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

}  // namespace gdr::local
