#include "rnic/srq.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "rnic/adapter.h"

namespace gdr::rnic {
namespace {

// The head may have moved and not yet the queue pair's tail.
void finish_taking(Segment& segment, SharedSrq& srq) {
  const std::uint32_t taking = srq.taking.load();
  if (taking == 0) return;
  if (srq.receive_head.load() != srq.taking_from.load()) {
    std::uint32_t before = srq.taking_to.load();
    segment.queue_pair(taking - 1).receive_tail.compare_exchange_strong(before, before + 1);
  }
  srq.taking.store(0);
}

// XRC: the head may have moved although no completion was pushed.
void put_back(Segment& segment, std::uint32_t index, Token self, Liveness& liveness) {
  SharedSrq& srq = segment.srq(index);
  if (srq.completing.load(std::memory_order_relaxed) == 0) return;
  const std::uint32_t head = srq.receive_head.load();
  if (taken_to(srq.completing.exchange(0)) != head) return;
  if (!has_completed(segment, read_once(srq.completion_queue), {.srq = index + 1, .receive = head},
                     self, liveness)) {
    srq.receive_head.store(head - 1);
    return;
  }
  srq.unexpected.store(srq.unexpected_next.load());
}

static_assert(receive_stride(kMaxSegments) % 16 == 0);

// False: this process was cut off.
bool copy_receive(const While& held, const SharedReceive& from, SharedReceive& to,
                  std::uint32_t most) {
  alignas(SharedReceive) std::byte room[receive_stride(kMaxSegments)]{};
  auto& copy = *reinterpret_cast<SharedReceive*>(room);
  const std::uint32_t segments = std::min(read_once(from.segments), most);
  copy.wr_id = read_once(from.wr_id);
  copy.segments = segments;
  for (std::uint32_t i = 0; i < segments; ++i) {
    copy.segment[i] = read_segment(from, i);
  }
  return copy_while(held, &to, &copy, receive_stride(segments));
}

}  // namespace

bool reaches_limit(SharedSrq& srq, std::uint32_t left) {
  std::uint32_t limit = srq.limit.load();
  return limit != 0 && limit < kSrqLimitReached && left < limit &&
         srq.limit.compare_exchange_strong(limit, kSrqLimitReached);
}

void mend(Segment& segment, std::uint32_t index, Token self, Liveness& liveness) {
  finish_taking(segment, segment.srq(index));
  put_back(segment, index, self, liveness);
  mend_tag(segment, index, self, liveness);
}

SrqGuard::SrqGuard(Segment& segment, std::uint32_t index, Token self, Liveness& liveness)
    : srq_(segment.srq(index)), held_(liveness.while_held()) {
  // Otherwise whoever holds it only moves a receive, and no copy goes on under it.
  const bool copies = srq_.takes_xrc.load() != 0 || srq_.matches_tags.load() != 0;
  word_ = lock(srq_.consumer, self, liveness, copies ? HeldFor::kCopies : HeldFor::kBookkeeping,
               read_once(segment.header().token));
  if (word_ != 0) mend(segment, index, self, liveness);
}

SrqGuard::~SrqGuard() {
  if (word_ != 0) unlock(srq_.consumer, word_, held_);
}

SrqTake take_receive(Segment& segment, std::uint32_t index, std::uint32_t queue_pair, Token self,
                     Liveness& liveness) {
  SharedSrq& srq = segment.srq(index);
  // Without the lock: nothing is there, not even on its way.
  if (srq.receive_tail.load() == srq.receive_head.load() && srq.taking.load() == 0) {
    return SrqTake::kNone;
  }
  const SrqGuard guard(segment, index, self, liveness);
  if (!guard.has_it()) return SrqTake::kNone;
  SharedQueuePair& taker = segment.queue_pair(queue_pair);
  const std::uint32_t place = taker.receive_tail.load();
  if (place != taker.receive_head.load()) return SrqTake::kTaken;  // by one that died
  const ReceiveRing from(segment, srq), to(segment, taker);
  const std::uint32_t head = srq.receive_head.load();
  const std::uint32_t ready = ready_receives(srq);
  if (ready == 0 || ready > from.capacity || from.base == nullptr || to.base == nullptr) {
    return SrqTake::kNone;
  }
  // Who is cut off here leaves `taking` as it is, and the next one mends it.
  const While& held = guard.held();
  const std::uint32_t segments = std::min(from.segments, to.segments);
  if (!copy_receive(held, from.at(head), to.at(place), segments) ||
      !store_two_while(held, srq.taking_from, head, srq.taking_to, place) ||
      !store_two_while(held, srq.taking, queue_pair + 1, srq.receive_head, head + 1) ||
      !store_two_while(held, taker.receive_tail, place + 1, srq.taking, 0)) {
    return SrqTake::kNone;
  }
  return reaches_limit(srq, ready - 1) ? SrqTake::kLimitReached : SrqTake::kTaken;
}

void wait_for_post(SharedSrq& srq, Token self) {
  const std::uint32_t slot = slot_of(self);
  srq.waiters[slot / 64].fetch_or(std::uint64_t{1} << slot % 64);
  srq.waiting.store(1);
}

Srq::Srq(Adapter& adapter, std::uint32_t index, const SrqSettings& settings)
    : adapter_(adapter),
      index_(index),
      settings_(settings),
      shared_(adapter.segment().srq(index)) {}

std::uint32_t Srq::number() const { return make_qp_number(slot_of(adapter_.token()), index_); }

Srq::~Srq() {
  shared_.matches_tags.store(0);
  if (ring_ == 0) return;
  adapter_.segment().free(ring_);
  shared_.generation.store(0);  // last: the place may be taken again from here on
}

Result<void> Srq::allocate() {
  if (settings_.max_requests == 0 || settings_.max_requests > kMaxSrqRequests ||
      settings_.max_segments > kMaxSegments) {
    return Error{EINVAL, "a shared receive queue has 1 to 32767 requests of at most 32 segments"};
  }
  settings_.max_requests = granted_requests(settings_.max_requests);
  capacity_ = places_for(settings_.max_requests);
  settings_.max_segments = std::max(settings_.max_segments, 1u);
  stride_ = receive_stride(settings_.max_segments);
  const std::uint64_t bytes = std::uint64_t{capacity_} * stride_;
  Result<std::uint64_t> ring = adapter_.segment().allocate(bytes);
  if (!ring) return ring.error();
  ring_ = *ring;
  receives_ = static_cast<std::byte*>(adapter_.segment().arena(ring_, bytes));
  shared_.protection_domain = settings_.protection_domain;
  shared_.receive_stride = stride_;
  shared_.receive_capacity = capacity_;
  shared_.receive_segments = settings_.max_segments;
  shared_.receive_ring = ring_;
  const auto& completions = settings_.completion_queue;
  shared_.completion_queue = completions != nullptr ? completions->index() : 0;
  shared_.xrc_domain = settings_.xrc_domain;
  shared_.taking.store(0);
  shared_.limit.store(0);
  shared_.completing.store(0);
  shared_.tag_end.store(0);
  shared_.completing_tag.store(0);
  shared_.unexpected.store(0);
  shared_.unexpected_next.store(0);
  if (settings_.max_tags != 0) {
    Result<std::unique_ptr<TagList>> tags =
        TagList::create(adapter_.segment(), shared_, settings_.max_tags, settings_.max_segments);
    if (!tags) return tags.error();
    tags_ = *std::move(tags);
  }
  // Counted on, not from 0: a completion queue may still tell of receives that have been, of one
  // that was here before.
  tail_ = shared_.receive_tail.load();
  shared_.receive_head.store(tail_);
  shared_.waiting.store(0);
  for (auto& word : shared_.waiters) word.store(0);
  shared_.generation.store(1);
  shared_.takes_xrc.store(completions != nullptr && tags_ == nullptr ? 1 : 0);
  shared_.matches_tags.store(tags_ != nullptr ? 1 : 0);
  return {};
}

// An XRC initiator's receive is off the queue before it is completed, and comes back if the
// initiator dies: its place must not have been given to another meanwhile.
std::uint32_t Srq::places_for(std::uint32_t requests) const {
  return std::bit_ceil(settings_.completion_queue != nullptr ? 2 * requests : requests);
}

std::uint32_t Srq::posted() const {
  return tail_ - shared_.receive_head.load(std::memory_order_acquire);
}

int Srq::post(const ibv_recv_wr* list, const ibv_recv_wr** bad) {
  int error = 0;
  {
    const std::lock_guard guard(post_lock_);
    for (const ibv_recv_wr* request = list; request != nullptr; request = request->next) {
      if (closed_ || request->num_sge < 0 ||
          static_cast<std::uint32_t>(request->num_sge) > settings_.max_segments) {
        error = EINVAL;
      } else if (posted() >= settings_.max_requests) {
        error = ENOMEM;
      }
      if (error != 0) {
        *bad = request;
        break;
      }
      store_receive(*request, *reinterpret_cast<SharedReceive*>(
                                  receives_ + std::uint64_t{tail_ & (capacity_ - 1)} * stride_));
      ++tail_;
    }
    // Sequentially consistent against an initiator that declares itself waiting and looks again.
    shared_.receive_tail.store(tail_);
  }
  if (shared_.waiting.load() != 0) wake_waiters();
  return error;
}

// All of them: who comes too late for the receive waits again.
void Srq::wake_waiters() {
  if (shared_.waiting.exchange(0) == 0) return;
  for (std::uint32_t word = 0; word < kSlots / 64; ++word) {
    std::uint64_t slots = shared_.waiters[word].load();
    if (slots != 0) slots = shared_.waiters[word].exchange(0);
    for (; slots != 0; slots &= slots - 1) {
      adapter_.neighbours().receive_posted(word * 64 +
                                           static_cast<std::uint32_t>(std::countr_zero(slots)));
    }
  }
}

int Srq::set_limit(std::uint32_t limit) {
  if (limit > settings_.max_requests) return EINVAL;
  serve();  // what an earlier arming brought is not forgotten
  shared_.limit.store(limit);
  // The specification asks how many are there, not how they came to be so few.
  const std::lock_guard guard(post_lock_);
  if (reaches_limit(shared_, posted())) adapter_.neighbours().wake_service();
  return 0;
}

int Srq::resize(std::uint32_t max_requests) {
  if (max_requests == 0 || max_requests > kMaxSrqRequests) return EINVAL;
  const std::uint32_t granted = granted_requests(max_requests), capacity = places_for(granted);
  const std::uint64_t bytes = std::uint64_t{capacity} * stride_;
  Result<std::uint64_t> ring = adapter_.segment().allocate(bytes);
  if (!ring) return ring.error().code;
  auto* receives = static_cast<std::byte*>(adapter_.segment().arena(*ring, bytes));
  std::uint64_t old = *ring;
  {
    const std::lock_guard guard(post_lock_);
    const SrqGuard taking(adapter_.segment(), index_, adapter_.token(), adapter_.liveness());
    const std::uint32_t head = shared_.receive_head.load();
    if (tail_ - head <= std::min(max_requests, capacity_)) {
      for (std::uint32_t at = head; at != tail_; ++at) {
        std::memcpy(receives + std::uint64_t{at & (capacity - 1)} * stride_,
                    receives_ + std::uint64_t{at & (capacity_ - 1)} * stride_, stride_);
      }
      old = std::exchange(ring_, *ring);
      receives_ = receives;
      shared_.receive_ring = ring_;
      shared_.receive_capacity = capacity_ = capacity;
      settings_.max_requests = granted;
    }
  }
  adapter_.segment().free(old);
  return old == *ring ? EINVAL : 0;
}

ibv_srq_attr Srq::query() const {
  const std::lock_guard guard(post_lock_);
  const std::uint32_t limit = shared_.limit.load();
  return {.max_wr = settings_.max_requests,
          .max_sge = settings_.max_segments,
          .srq_limit = limit < kSrqLimitReached ? limit : 0};
}

std::uint32_t Srq::settled_tail(const SharedQueuePair& queue_pair) {
  const SrqGuard guard(adapter_.segment(), index_, adapter_.token(), adapter_.liveness());
  return queue_pair.receive_tail.load();
}

void Srq::close() {
  shared_.takes_xrc.store(0);
  wait_for_present_holder(shared_.consumer, adapter_.liveness());
  adapter_.settle({});
}

void Srq::lose_completion_queue(const CompletionQueue& queue) {
  if (settings_.completion_queue.get() != &queue || shared_.takes_xrc.exchange(0) == 0) return;
  settings_.events->push({IBV_EVENT_SRQ_ERR, settings_.verbs_object});
}

void Srq::mend_if_orphaned() {
  if (shared_.completing.load() == 0 && shared_.completing_tag.load() == 0) return;
  const Token self = adapter_.token();
  const Taken taken = try_lock(shared_.consumer, self, adapter_.liveness(), self);
  if (taken == Taken::kOrphan) {
    mend(adapter_.segment(), index_, adapter_.token(), adapter_.liveness());
  }
  if (taken != Taken::kNo) unlock(shared_.consumer);
}

bool Srq::serve() {
  std::uint32_t reached = kSrqLimitReached;
  if (shared_.limit.compare_exchange_strong(reached, 0)) {
    settings_.events->push({IBV_EVENT_SRQ_LIMIT_REACHED, settings_.verbs_object});
  }
  mend_if_orphaned();
  return serve_rendezvous();
}

}  // namespace gdr::rnic
