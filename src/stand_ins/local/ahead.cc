#include "local/ahead.h"

#include <sched.h>

#include "local/fault_hooks.h"
#include "local/local_path.h"

namespace gdr::local {
namespace {

// Whoever waits for the target's lock waits no longer than this, and for what is then in flight.
constexpr Nanoseconds kLongestHold = kMillisecond;

// Those whose bytes go by one copy, and of which nothing else is to be found out first.
bool may_be_early(const Requester& requester, const rnic::SendRequest& request) {
  const ibv_qp_type type = requester.queue_pair.type();
  const bool moves = request.opcode == IBV_WR_RDMA_WRITE || request.opcode == IBV_WR_RDMA_READ ||
                     request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  return moves && (type == IBV_QPT_RC || type == IBV_QPT_UC) && request.fetch == 0 &&
         (request.flags & IBV_SEND_INLINE) == 0 && request.total_bytes != 0 &&
         request.total_bytes <= rnic::kMaxMessage;
}

bool is_same(const Piece& one, const Piece& other) {
  return one.where == other.where && one.address == other.address && one.length == other.length &&
         one.memory == other.memory && one.key_address == other.key_address &&
         one.key == other.key && one.protection_domain == other.protection_domain;
}

}  // namespace

void Ahead::look(Requester& requester) {
  if (requester.queue_pair.send_ring().size() <= 1 + count_ || faults::is_any()) return;
  const Nanoseconds time = now();
  if (requester.held_since == 0) requester.held_since = time;
  while (time - requester.held_since < kLongestHold && count_ < kMost && bytes_ < kMostBytes &&
         requester.queue_pair.send_ring().size() > 1 + count_) {
    if (!start_next(requester)) return;
  }
}

// A request with errors of its own is not started here: it has them in its turn.
bool Ahead::start_next(Requester& requester) {
  const rnic::SendRequest& request =
      requester.queue_pair.send_ring().peek(static_cast<std::uint32_t>(1 + count_));
  if (!may_be_early(requester, request)) return false;
  const bool is_read = request.opcode == IBV_WR_RDMA_READ;
  Started& next = at(count_);
  next.takes_receive = request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  if (next.takes_receive) {
    std::uint32_t wanted = requester.has_receive ? 2 : 1;
    for (std::size_t i = 0; i < count_; ++i) wanted += at(i).takes_receive ? 1 : 0;
    if (requester.target.own_receives() < wanted) return false;
  }
  PieceList own, theirs;
  if (!requester.pieces_of(request, is_read ? IBV_ACCESS_LOCAL_WRITE : 0, &own) ||
      !requester.piece_of(request, is_read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE,
                          request.total_bytes, &theirs) ||
      own.pieces().size() != 1 || theirs.pieces().size() != 1) {
    return false;
  }
  PieceList& from = is_read ? theirs : own;
  PieceList& to = is_read ? own : theirs;
  next.from = from.pieces().front(), next.to = to.pieces().front();
  requester.open_piece(theirs.pieces().front(), &next.opened);
  next.copy.reset();
  if (goes_by_one_copy(from, to, requester.path.means())) {
    start_directly(next.copy, from.pieces().front(), to.pieces().front(), request.total_bytes,
                   {&requester.sequence});
  }
  if (next.copy.idle()) {
    next.opened.reset();
    return false;
  }
  ++count_;
  bytes_ += request.total_bytes;
  requester.moves_begun.fetch_add(1);
  return true;
}

bool Ahead::is_next(const PieceList& from, const PieceList& to) const {
  return count_ != 0 && from.pieces().size() == 1 && to.pieces().size() == 1 &&
         is_same(first().from, from.pieces().front()) && is_same(first().to, to.pieces().front());
}

void Ahead::hand_over(Copy& copy, std::vector<std::shared_ptr<memory::PinnedMemory>>& opened) {
  copy.take_over(at(0).copy);
  if (at(0).opened != nullptr) opened.push_back(std::move(at(0).opened));
  bytes_ -= at(0).from.length;
  first_ = (first_ + 1) % kMost, --count_;
}

std::size_t Ahead::drain() {
  const std::size_t drained = count_;
  for (std::size_t i = 0; i < count_; ++i) {
    Copy& copy = at(i).copy;
    while (!copy.idle() && !copy.poll()) sched_yield();
    copy.reset();
    at(i).opened.reset();
  }
  count_ = 0, bytes_ = 0;
  return drained;
}

}  // namespace gdr::local
