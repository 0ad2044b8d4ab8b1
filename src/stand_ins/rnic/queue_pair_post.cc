// Posting work requests. Hot.
#include <cstring>
#include <mutex>

#include "base/raw.h"
#include "rnic/adapter.h"
#include "rnic/queue_pair.h"

namespace gdr::rnic {
namespace {

bool opcode_is_served(ibv_qp_type type, std::uint32_t opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
      return type != IBV_QPT_XRC_RECV;
    case IBV_WR_SEND_WITH_IMM:
      return type != IBV_QPT_RAW_PACKET && type != IBV_QPT_XRC_RECV;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_BIND_MW:
    case IBV_WR_LOCAL_INV:
    case IBV_WR_SEND_WITH_INV:
      return is_reliable(type) || type == IBV_QPT_UC;
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return is_reliable(type);
    default:
      return false;
  }
}

std::uint64_t total_length(const ibv_send_wr& request) {
  std::uint64_t total = 0;
  for (int i = 0; i < request.num_sge; ++i) total += request.sg_list[i].length;
  return total;
}

}  // namespace

int QueuePair::check_send(const ibv_send_wr& request) const {
  if (!opcode_is_served(type(), raw(request.opcode))) return EINVAL;
  if (is_window_request(request.opcode)) {
    return request.opcode == IBV_WR_BIND_MW ? check_bind(request) : 0;
  }
  if (request.num_sge < 0 ||
      static_cast<std::uint32_t>(request.num_sge) > settings_.capabilities.max_send_sge) {
    return EINVAL;
  }
  if (request.num_sge > 0 && request.sg_list == nullptr) return EINVAL;
  if (type() == IBV_QPT_UD && request.wr.ud.ah == nullptr) return EINVAL;
  if (request.send_flags & IBV_SEND_INLINE) {
    if (request.opcode == IBV_WR_RDMA_READ || is_atomic(request.opcode)) return EINVAL;
    if (total_length(request) > settings_.capabilities.max_inline_data) return EINVAL;
  }
  return 0;
}

void QueuePair::store_send(const ibv_send_wr& request, SendRequest& slot) {
  slot.wr_id = request.wr_id;
  slot.fetch = 0;
  slot.goes_beyond = false;
  slot.opcode = request.opcode;
  slot.flags = request.send_flags;
  slot.immediate = request.imm_data;
  if (is_window_request(request.opcode)) return store_window_request(request, slot);
  if (type() == IBV_QPT_UD) {
    slot.remote_qp = request.wr.ud.remote_qpn;
    // A qkey with the high bit set asks for the queue pair's own (C10-15).
    slot.remote_qkey =
        request.wr.ud.remote_qkey & 0x8000'0000 ? attributes_.qkey : request.wr.ud.remote_qkey;
    slot.address = vector_of(request.wr.ud.ah);
    slot.goes_beyond = goes_beyond(slot);
  } else if (is_atomic(request.opcode)) {
    slot.remote_address = request.wr.atomic.remote_addr;
    slot.rkey = request.wr.atomic.rkey;
    slot.compare_add = request.wr.atomic.compare_add;
    slot.swap = request.wr.atomic.swap;
  } else {
    slot.remote_address = request.wr.rdma.remote_addr;
    slot.rkey = request.wr.rdma.rkey;
  }
  slot.remote_srq = request.qp_type.xrc.remote_srqn;
  slot.total_bytes = total_length(request);
  if (request.send_flags & IBV_SEND_INLINE) {
    slot.segment_count = 0;
    slot.inline_bytes = static_cast<std::uint32_t>(slot.total_bytes);
    auto* to = reinterpret_cast<std::byte*>(&slot + 1);
    for (int i = 0; i < request.num_sge; ++i) {
      const ibv_sge& segment = request.sg_list[i];
      if (segment.length == 0) continue;
      std::memcpy(to, reinterpret_cast<const void*>(segment.addr), segment.length);
      to += segment.length;
    }
    return;
  }
  slot.inline_bytes = 0;
  slot.segment_count = static_cast<std::uint32_t>(request.num_sge);
  auto* to = reinterpret_cast<ibv_sge*>(&slot + 1);
  for (std::uint32_t i = 0; i < slot.segment_count; ++i) to[i] = request.sg_list[i];
}

// Addresses come in runs: the last answer is kept.
bool QueuePair::goes_beyond(const SendRequest& datagram) {
  const AddressVector& address = datagram.address;
  if (!address.has_gid || datagram.remote_qp == kMulticastQueuePair) return false;
  if (last_gid_ != address.destination_gid) {
    last_gid_ = address.destination_gid;
    last_goes_beyond_ = adapter_.is_beyond(address.destination_gid);
  }
  return last_goes_beyond_;
}

bool QueuePair::pass_beyond() {
  BeyondCarrier* beyond = adapter_.beyond();
  if (beyond == nullptr || !beyond->carries_groups(*this)) return false;
  ring_.front().goes_beyond = true;
  return true;
}

Carrier* QueuePair::carrier_of_front() {
  return ring_.front().goes_beyond ? adapter_.beyond() : carrier_;
}

void QueuePair::carry() {
  while (!ring_.empty()) {
    Carrier* carrier = carrier_of_front();
    carrier->send(*this);
    if (has_front_for(*carrier)) return;
  }
}

int QueuePair::post_send(const ibv_send_wr* list, const ibv_send_wr** bad) {
  const std::lock_guard guard(send_lock_);
  const ibv_qp_state now_in = state();
  const bool failed = now_in == IBV_QPS_ERR || now_in == IBV_QPS_SQE;
  if (!failed && now_in != IBV_QPS_RTS) {
    *bad = list;
    return EINVAL;
  }
  int error = 0;
  for (const ibv_send_wr* request = list; request != nullptr; request = request->next) {
    error = ring_.full() ? ENOMEM : check_send(*request);
    if (error != 0) {
      *bad = request;
      break;
    }
    store_send(*request, ring_.back_slot());
    ring_.push();
  }
  if (failed) {
    flush_sends();
  } else if (!ring_.empty()) {
    carry();
  }
  return error;
}

SharedReceive& QueuePair::receive_at(std::uint32_t position) const {
  return *reinterpret_cast<SharedReceive*>(
      receives_ + std::uint64_t{position & (receive_places_ - 1)} * receive_stride_);
}

int QueuePair::post_receive(const ibv_recv_wr* list, const ibv_recv_wr** bad) {
  int error = 0;
  {
    const std::lock_guard guard(receive_lock_);
    if (state() == IBV_QPS_RESET || !has_own_receives()) {
      *bad = list;
      return EINVAL;
    }
    for (const ibv_recv_wr* request = list; request != nullptr; request = request->next) {
      if (receive_tail_ - known_receive_head_ >= receive_capacity_) {
        known_receive_head_ = shared_.polled_head.load(std::memory_order_relaxed);
        if (receive_tail_ - known_receive_head_ >= receive_capacity_) {
          known_receive_head_ = shared_.receive_head.load(std::memory_order_acquire);
        }
      }
      const std::uint32_t used = receive_tail_ - known_receive_head_;
      if (request->num_sge < 0 ||
          static_cast<std::uint32_t>(request->num_sge) > settings_.capabilities.max_recv_sge) {
        error = EINVAL;
      } else if (used >= receive_capacity_) {
        error = ENOMEM;
      }
      if (error != 0) {
        *bad = request;
        break;
      }
      store_receive(*request, receive_at(receive_tail_));
      ++receive_tail_;
    }
    // Sequentially consistent against an initiator that declares itself waiting and looks again.
    shared_.receive_tail.store(receive_tail_);
  }
  if (shared_.receive_waiter.load() != 0) {
    const Token waiter = shared_.receive_waiter.exchange(0);
    if (waiter != 0) adapter_.neighbours().receive_posted(slot_of(waiter));
  }
  if (state() == IBV_QPS_ERR) {
    flush_due_.store(true);
    adapter_.wake_for(*this);
  }
  return error;
}

}  // namespace gdr::rnic
