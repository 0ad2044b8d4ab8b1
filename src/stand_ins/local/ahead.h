// Ahead: copies of the requests behind the front one, started before their turn, so that a GPU goes
// from one to the next while this process ends the first.
//
//   ahead.look(requester);           // the front request's own copies have all been started
//   if (ahead.is_next(from, to)) ahead.hand_over(copy, opened);
//   ahead.drain();
//
// They arrive in the order of their requests (memory::PeerMemoryClient::Sequence), and a request is
// completed in its turn. Until then the target stays locked: whoever waits for that lock, because
// memory or a queue pair goes, waits for them, too. Engine thread, under the send lock; drain()
// also by whoever cancels.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "local/copy.h"

namespace gdr::local {

struct Requester;

class Ahead {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  // Starts those of the requests that come next and may be started, as far as there is room.
  void look(Requester& requester);
  // Whether the first is the copy from there to there.
  bool is_next(const PieceList& from, const PieceList& to) const;
  // Takes the first off: `copy` is it, and `opened` what it needs until it has ended.
  void hand_over(Copy& copy, std::vector<std::shared_ptr<memory::PinnedMemory>>& opened);
  // Waits for all, and forgets them. How many there were.
  std::size_t drain();

 private:
  static constexpr std::size_t kMost = 8;
  static constexpr std::uint64_t kMostBytes = 64 << 20;

  struct Started {
    Copy copy;
    Piece from, to;  // before what is open here was looked for
    bool takes_receive = false;
    std::shared_ptr<memory::PinnedMemory> opened;  // the peer's, that it moves
  };
  bool start_next(Requester& requester);
  Started& at(std::size_t behind_first) { return started_[(first_ + behind_first) % kMost]; }
  const Started& first() const { return started_[first_]; }

  std::array<Started, kMost> started_;
  std::size_t first_ = 0, count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace gdr::local
