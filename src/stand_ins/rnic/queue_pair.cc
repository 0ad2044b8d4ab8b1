// Life and states of a queue pair; posting is in queue_pair_post.cc, how requests end in
// queue_pair_ends.cc.
#include "rnic/queue_pair.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "rnic/adapter.h"
#include "rnic/gids.h"
#include "rnic/queue_pair_states.h"

namespace gdr::rnic {

QueuePair::QueuePair(Adapter& adapter, std::uint32_t index, const QueuePairSettings& settings)
    : adapter_(adapter),
      carrier_(&adapter.carrier()),
      index_(index),
      number_(make_qp_number(slot_of(adapter.token()), index)),
      settings_(settings),
      shared_(adapter.segment().queue_pair(index)),
      handles_{{settings.events, settings.verbs_object}},
      known_receive_head_(shared_.receive_head.load()),
      receive_tail_(shared_.receive_tail.load()) {}

QueuePair::~QueuePair() {
  if (receive_ring_ != 0) adapter_.segment().free(receive_ring_);
}

Result<void> QueuePair::allocate() {
  ibv_qp_cap& cap = settings_.capabilities;
  if (cap.max_send_wr > kMaxSendRequests || cap.max_recv_wr > kMaxReceiveRequests ||
      cap.max_send_sge > kMaxSegments || cap.max_recv_sge > kMaxSegments ||
      cap.max_inline_data > kMaxInline) {
    return Error{EINVAL, "a queue pair capability is above what ibv_query_device reports"};
  }
  // What was granted, as query reports it: rings are powers of two.
  cap.max_send_wr = std::bit_ceil(std::max(cap.max_send_wr, 1u));
  cap.max_send_sge = std::max(cap.max_send_sge, 1u);
  // Inline data lie where segments would, so there is room for some whether asked for or not, as on
  // hardware and rxe. Programs count on it (rdma_xclient).
  const auto segments = static_cast<std::uint32_t>(cap.max_send_sge * sizeof(ibv_sge));
  cap.max_inline_data = std::max(cap.max_inline_data, std::min(segments, kMaxInline));
  if (!allocate_sends()) {
    return Error{ENOMEM, "no memory for the send ring"};
  }
  if (Result<void> allocated = allocate_receives(); !allocated) return allocated.error();
  shared_.type = settings_.type;
  shared_.device = settings_.device;
  shared_.protection_domain = settings_.protection_domain;
  const auto& receives = settings_.receive_completion_queue;
  shared_.receive_completion_queue = receives != nullptr ? receives->index() : 0;
  shared_.xrc_domain = settings_.xrc_domain;
  reset();
  return {};
}

bool QueuePair::allocate_sends() {
  const ibv_qp_cap& cap = settings_.capabilities;
  if (settings_.srq == nullptr || !settings_.srq->matches_tags()) {
    return ring_.allocate(cap.max_send_wr, cap.max_send_sge, cap.max_inline_data,
                          settings_.send_memory);
  }
  // With room for its own requests, beside those that the program may post.
  return ring_.allocate(2 * std::max(cap.max_send_wr, 2u),
                        std::max(cap.max_send_sge, settings_.srq->settings().max_segments),
                        std::max(cap.max_inline_data, kTagHeaderBytes), settings_.send_memory);
}

Result<void> QueuePair::allocate_receives() {
  ibv_qp_cap& cap = settings_.capabilities;
  std::uint32_t segments = cap.max_recv_sge;
  shared_.receive_domain = settings_.protection_domain;
  shared_.srq = 0;
  if (settings_.srq != nullptr) {
    cap.max_recv_wr = cap.max_recv_sge = 0;
    segments = settings_.srq->settings().max_segments;
    receive_capacity_ = receive_places_ = 1;
    shared_.receive_domain = settings_.srq->settings().protection_domain;
    shared_.srq = settings_.srq->index() + 1;
  } else if (is_xrc(type())) {
    cap.max_recv_wr = cap.max_recv_sge = segments = 0;
  } else if (cap.max_recv_wr > 0) {
    receive_capacity_ = cap.max_recv_wr = std::bit_ceil(cap.max_recv_wr);
    // Half of the ring stays free: where it is full, a receive would be posted into the very line
    // that the next message is looked up in, and both processors would wait for it each time.
    receive_places_ = 2 * receive_capacity_;
  }
  if (receive_capacity_ > 0) {
    receive_stride_ = receive_stride(segments);
    const std::uint64_t bytes = std::uint64_t{receive_places_} * receive_stride_;
    Result<std::uint64_t> ring = adapter_.segment().allocate(bytes);
    if (!ring) return ring.error();
    receive_ring_ = *ring;
    receives_ = static_cast<std::byte*>(adapter_.segment().arena(receive_ring_, bytes));
  }
  shared_.receive_stride = receive_stride_;
  shared_.receive_capacity = receive_places_;
  shared_.receive_segments = segments;
  shared_.receive_ring = receive_ring_;
  return {};
}

bool QueuePair::open(std::shared_ptr<EventQueue> events, void* verbs_object) {
  const std::lock_guard guard(handles_lock_);
  if (handles_.empty()) return false;
  handles_.push_back({std::move(events), verbs_object});
  return true;
}

bool QueuePair::close(const void* verbs_object) {
  const std::lock_guard guard(handles_lock_);
  std::erase_if(handles_, [&](const Handle& handle) { return handle.object == verbs_object; });
  return handles_.empty();
}

void QueuePair::raise(ibv_event_type event) {
  const std::lock_guard guard(handles_lock_);
  for (const Handle& handle : handles_) handle.events->push({event, handle.object});
}

void QueuePair::set_state(ibv_qp_state state) {
  state_.store(state);
  shared_.state.store(state);
}

int QueuePair::modify(const ibv_qp_attr& attributes, int mask) {
  const auto devices = adapter_.devices();
  const std::uint32_t gids =
      settings_.device < devices.size() ? gid_count(devices[settings_.device]) : 0;
  std::unique_lock guard(send_lock_);
  const ibv_qp_state from = state();
  const ibv_qp_state to = mask & IBV_QP_STATE ? attributes.qp_state : from;
  if ((mask & IBV_QP_CUR_STATE) && attributes.cur_qp_state != from) return EINVAL;
  if (const int error = check_transition(type(), from, to, mask)) return error;
  if (const int error = check_values(attributes, mask, gids)) return error;

  if (to == IBV_QPS_RESET) {
    cancel_sends();
    set_state(IBV_QPS_RESET);
    reset();
    drop_sends();
    guard.unlock();
    adapter_.settle({});
    return 0;
  }
  if (to == IBV_QPS_ERR) {
    if (from != IBV_QPS_ERR) {
      cancel_sends();
      enter_error(IBV_QPS_ERR);
    }
    // Not under the send lock: a transfer of this process may need it to come to its end. Also when
    // it was in error before: whoever put it there did not wait.
    guard.unlock();
    wait_for_present_holder(shared_.responder, adapter_.liveness());
    adapter_.settle({});
    return 0;
  }
  apply(attributes, mask);
  if (to == IBV_QPS_RTR && from == IBV_QPS_INIT) {
    if (const int error = connect()) return error;
  }
  set_state(to);
  return 0;
}

// Which carrier it has, for as long as it is connected.
int QueuePair::connect() {
  if (adapter_.is_forked()) return EIO;
  BeyondCarrier* beyond = adapter_.beyond();
  if (beyond == nullptr) return carrier_->connect(*this);
  if (type() == IBV_QPT_UD) return beyond->connect(*this);
  // Without a GID the queue pair number alone finds its target, which only works on one host.
  const ibv_ah_attr& address = attributes_.ah_attr;
  if (address.is_global == 0 || !adapter_.is_beyond(address.grh.dgid.raw)) {
    return carrier_->connect(*this);
  }
  const int error = beyond->connect(*this);
  if (error == 0) carrier_ = beyond;
  return error;
}

// No byte moves for its requests any more. In a fork's child nothing moves anyway. Under
// send_lock_.
void QueuePair::cancel_sends() {
  if (adapter_.is_forked()) return packet_state.reset();
  carrier_->cancel(*this);
  if (packet_state != nullptr) adapter_.beyond()->cancel(*this);
}

void QueuePair::apply(const ibv_qp_attr& a, int mask) {
  ibv_qp_attr& to = attributes_;
  if (mask & IBV_QP_ACCESS_FLAGS) to.qp_access_flags = a.qp_access_flags;
  if (mask & IBV_QP_PKEY_INDEX) to.pkey_index = a.pkey_index;
  if (mask & IBV_QP_PORT) to.port_num = a.port_num;
  if (mask & IBV_QP_QKEY) to.qkey = a.qkey;
  if (mask & IBV_QP_AV) to.ah_attr = a.ah_attr;
  if (mask & IBV_QP_PATH_MTU) to.path_mtu = a.path_mtu;
  if (mask & IBV_QP_TIMEOUT) to.timeout = a.timeout;
  if (mask & IBV_QP_RETRY_CNT) to.retry_cnt = a.retry_cnt;
  if (mask & IBV_QP_RNR_RETRY) to.rnr_retry = a.rnr_retry;
  if (mask & IBV_QP_RQ_PSN) to.rq_psn = a.rq_psn & 0xff'ffff;
  if (mask & IBV_QP_SQ_PSN) to.sq_psn = a.sq_psn & 0xff'ffff;
  if (mask & IBV_QP_MAX_QP_RD_ATOMIC) to.max_rd_atomic = a.max_rd_atomic;
  if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) to.max_dest_rd_atomic = a.max_dest_rd_atomic;
  if (mask & IBV_QP_MIN_RNR_TIMER) to.min_rnr_timer = a.min_rnr_timer;
  if (mask & IBV_QP_DEST_QPN) to.dest_qp_num = a.dest_qp_num;
  if (mask & IBV_QP_RATE_LIMIT) to.rate_limit = a.rate_limit;
  shared_.access.store(to.qp_access_flags);
  shared_.qkey.store(to.qkey);
  shared_.destination.store(to.dest_qp_num);
  shared_.minimum_rnr_timer.store(to.min_rnr_timer);
}

void QueuePair::query(ibv_qp_attr* attributes, ibv_qp_init_attr* init) const {
  *attributes = attributes_;
  attributes->qp_state = state();
  attributes->cur_qp_state = state();
  attributes->path_mig_state = IBV_MIG_MIGRATED;
  attributes->cap = settings_.capabilities;
  init->cap = settings_.capabilities;
  init->qp_type = settings_.type;
  init->sq_sig_all = settings_.signal_all ? 1 : 0;
}

// Everything a queue pair carries from one connection to the next is forgotten, its completions
// included (C10-19). Under send_lock_.
void QueuePair::reset() {
  const std::lock_guard receive_guard(receive_lock_);
  const LockGuard responder(shared_.responder, adapter_.token(), adapter_.liveness());
  // Counted on, not from 0: completions still in the ring tell of receives that have been. One that
  // was taken from a shared queue and not completed is lost, as on hardware; error first flushes
  // it.
  const bool shares = settings_.srq != nullptr;
  const std::uint32_t tail = shares ? settings_.srq->settled_tail(shared_) : receive_tail_;
  shared_.receive_head.store(tail);
  shared_.receive_tail.store(tail);
  known_receive_head_ = tail;
  shared_.completing.store(0);
  shared_.receive_waiter.store(0);
  shared_.ending_send.store(0);
  shared_.failure.store(static_cast<std::uint32_t>(Failure::kNone));
  shared_.destination.store(0);
  shared_.access.store(0);
  carrier_ = &adapter_.carrier();
  last_receive_told_ = false;
  attributes_ = {};
  set_state(IBV_QPS_RESET);
  const auto& sends = settings_.send_completion_queue;
  const auto& receives = settings_.receive_completion_queue;
  if (sends != nullptr) sends->purge(number_);
  if (receives != nullptr && receives != sends) receives->purge(number_);
}

void QueuePair::destroy() {
  // Now, and not when the engine thread lets go of this object: it may be the program's own memory.
  std::shared_ptr<std::byte[]> send_memory;
  {
    const std::lock_guard guard(send_lock_);
    destroyed_ = true;
    cancel_sends();
    set_state(IBV_QPS_RESET);
    reset();
    drop_sends();
    send_memory = ring_.release();
  }
  // The holder of the responder lock may have died while this process copied for it.
  adapter_.settle({});
}

ports::Port& QueuePair::port() const { return adapter_.port(settings_.device); }

}  // namespace gdr::rnic
