// LateClient: a GPU's memory as a client sees it. Copies are done when they are asked about often
// enough, in any order but that of their sequences; none is done at once.
//
//   LateClient client;
//   client.fail_end = 3;   // the third copy breaks off
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "far_memory_client.h"
#include "local/pieces.h"
#include "memory/pinned_memory.h"

namespace gdr::local {

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

inline Piece piece_at(const std::uint8_t* bytes, std::uint64_t length,
                      memory::PinnedMemory* memory = nullptr) {
  Piece piece = plain_piece(bytes, length);
  piece.memory = memory;
  return piece;
}

}  // namespace gdr::local
