#include "local/coalesce.h"

#include <algorithm>
#include <array>

#include "base/kill_point.h"
#include "local/fault_hooks.h"
#include "local/process_memory.h"
#include "local/requester.h"

namespace gdr::local {
namespace {

// While they are moved, the target's lock is held: for no longer than by one write of some hundred
// KiB. More requests would gain little: the call itself is a twentieth of the time then.
constexpr std::uint32_t kMostRequests = 64;
constexpr std::uint64_t kMostBytes = 64 << 10;
constexpr std::size_t kMostPieces = 2 * kMostRequests;

bool is_write(const rnic::SendRequest& request) { return request.opcode == IBV_WR_RDMA_WRITE; }

// Those that take nothing but memory of their target.
bool may_be_coalesced(const rnic::SendRequest& request) {
  return (is_write(request) || request.opcode == IBV_WR_RDMA_READ) && request.fetch == 0 &&
         request.total_bytes != 0 && request.total_bytes <= kMostBytes;
}

class Coalesced {
 public:
  explicit Coalesced(Requester& requester)
      : requester_(requester), writes_(is_write(requester.request())) {}

  // As many of the requests as may go together. Each has gone through its checks then.
  std::uint32_t gather();
  // One system call: how many bytes were moved, or a negative number as from system_call_while().
  long move();
  // How many of the requests so many bytes are.
  std::uint32_t whole(long moved) const;

 private:
  bool target_answers() const;
  bool add_next();
  bool add(const PieceList& own, const PieceList& theirs);

  Requester& requester_;
  const bool writes_;
  std::uint32_t count_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t here_count_ = 0, there_count_ = 0;
  std::array<iovec, kMostPieces> here_;
  std::array<iovec, kMostRequests> there_;
  std::array<std::uint64_t, kMostRequests> ends_;  // of each request, in all of the bytes
};

std::uint32_t Coalesced::gather() {
  const bool is_first_added =
      writes_ ? add(requester_.from, requester_.to) : add(requester_.to, requester_.from);
  if (!is_first_added) return 0;
  const std::uint32_t posted = requester_.queue_pair.send_ring().size();
  while (count_ < std::min(posted, kMostRequests) && add_next()) {
  }
  return count_;
}

// Whoever changes the state waits for the lock under which this one is moved.
bool Coalesced::target_answers() const {
  const Target& target = requester_.target;
  return target.readiness(requester_.queue_pair.type()) == Readiness::kReady &&
         target.connected_to(requester_.queue_pair.number());
}

// A request with an error of its own has it in its turn.
bool Coalesced::add_next() {
  const rnic::SendRequest& request = requester_.queue_pair.send_ring().peek(count_);
  if (!may_be_coalesced(request) || is_write(request) != writes_) return false;
  if (request.total_bytes > kMostBytes - bytes_ || !target_answers()) return false;
  PieceList own, theirs;
  return requester_.pieces_of(request, writes_ ? 0 : IBV_ACCESS_LOCAL_WRITE, &own) &&
         requester_.piece_of(request, writes_ ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ,
                             request.total_bytes, &theirs) &&
         add(own, theirs);
}

// Places that touch at the target are one piece of it, which is cheaper: pieces of this process
// remain apart, and it is these that are copied one after the other.
bool Coalesced::add(const PieceList& own, const PieceList& theirs) {
  const Piece& there = theirs.pieces().front();
  if (theirs.pieces().size() != 1 || there.where != Where::kProcess || there.on_demand)
    return false;
  if (!own.cpu_reachable() || own.has_on_demand() || own.has_nowhere()) return false;
  const std::size_t room = own.pieces().size() + 1;  // one is split
  if (here_count_ + room > kMostPieces) return false;
  iovec* const first = here_.data() + here_count_;
  std::size_t count = 0;
  for (const Piece& piece : own.pieces()) {
    first[count++] = {reinterpret_cast<void*>(piece.address), piece.length};
  }
  const iovec place{reinterpret_cast<void*>(there.address), there.length};
  if (writes_) count = split_tail({first, count}, place).size();
  here_count_ += count;
  iovec* const last = there_count_ != 0 ? &there_[there_count_ - 1] : nullptr;
  if (last != nullptr &&
      static_cast<std::byte*>(last->iov_base) + last->iov_len == place.iov_base) {
    last->iov_len += place.iov_len;
  } else {
    there_[there_count_++] = place;
  }
  bytes_ += there.length;
  ends_[count_++] = bytes_;
  return true;
}

long Coalesced::move() {
  const ProcessMemory process{requester_.target.peer()->pid(), requester_.target.held()};
  const std::span<const iovec> here(here_.data(), here_count_), there(there_.data(), there_count_);
  return writes_ ? write_in_one_call(process, here, there) : read_in_one_call(process, here, there);
}

std::uint32_t Coalesced::whole(long moved) const {
  std::uint32_t whole = 0;
  while (whole < count_ && static_cast<long>(ends_[whole]) <= moved) ++whole;
  return whole;
}

// The target is let go of first: nobody's lock is held while completions are pushed.
Advance complete(Requester& requester, std::uint32_t requests) {
  count_moved(requester, requests);
  add_uncounted(requester);
  requester.abandon();
  for (; requests != 0; --requests) {
    requester.queue_pair.complete_front(
        IBV_WC_SUCCESS, static_cast<std::uint32_t>(requester.request().total_bytes));
  }
  return Advance::kCompleted;
}

}  // namespace

std::optional<Advance> move_coalesced(Requester& requester) {
  const ibv_qp_type type = requester.queue_pair.type();
  if (!requester.coalesces || requester.target.peer() == nullptr || faults::is_any() ||
      (type != IBV_QPT_RC && type != IBV_QPT_UC) || !may_be_coalesced(requester.request()) ||
      !requester.ahead.empty()) {
    return std::nullopt;
  }
  Coalesced together(requester);
  if (together.gather() < 2) return std::nullopt;
  kill_point("locked");
  const long moved = together.move();
  kill_point("copied");
  if (moved == kEnded) return requester.begin_again();
  if (moved < 0 && is_refusal(static_cast<int>(-moved))) requester.coalesces = false;
  const std::uint32_t whole = together.whole(moved);
  if (whole == 0) return std::nullopt;
  return complete(requester, whole);
}

}  // namespace gdr::local
