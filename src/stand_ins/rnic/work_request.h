// SendRequest: one posted send work request as the send queue keeps it until it has been carried
// out; SendRing: the queue itself. Private to the process that posted it.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "rnic/address_handle.h"

namespace gdr::rnic {

struct WindowBind;

constexpr bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}
// Binds or invalidates a memory window: moves no bytes, and its segments are not looked at.
constexpr bool is_window_request(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_BIND_MW || opcode == IBV_WR_LOCAL_INV;
}

struct SendRequest {
  std::uint64_t wr_id;
  ibv_wr_opcode opcode;
  std::uint32_t flags;      // ibv_send_flags
  std::uint32_t immediate;  // or the key to invalidate
  std::uint32_t rkey;
  std::uint64_t remote_address;
  std::uint64_t compare_add;
  std::uint64_t swap;
  std::uint32_t remote_qp;    // UD
  std::uint32_t remote_qkey;  // UD
  std::uint32_t remote_srq;   // XRC
  std::uint32_t fetch;        // not 0: the queue pair's own, see queue_pair_fetch.cc
  AddressVector address;      // UD
  bool goes_beyond;           // UD: its address is not on this host
  std::uint32_t segment_count;
  std::uint32_t inline_bytes;  // valid with IBV_SEND_INLINE; then segment_count is 0
  std::uint64_t total_bytes;   // of its segments or inline data

  // For IBV_WR_BIND_MW, whose parts are in the fields above: see window_post.cc.
  WindowBind window_bind() const;

  // Both lie right behind the struct in its ring slot.
  std::span<const ibv_sge> segments() const {
    return {reinterpret_cast<const ibv_sge*>(this + 1), segment_count};
  }
  std::span<const std::uint8_t> inline_data() const {
    return {reinterpret_cast<const std::uint8_t*>(this + 1), inline_bytes};
  }
};

// Memory of so many bytes, aligned for a SendRequest; null when there is none.
using RingAllocator = std::function<std::shared_ptr<std::byte[]>(std::size_t)>;

// One producer and one consumer, both under the queue pair's send lock.
class SendRing {
 public:
  SendRing() = default;
  // ENOMEM-like false when the memory cannot be had. An empty `allocator` stands for new.
  bool allocate(std::uint32_t capacity, std::uint32_t max_segments, std::uint32_t max_inline,
                const RingAllocator& allocator = {});
  // Empties the ring for good and gives its memory up.
  std::shared_ptr<std::byte[]> release() {
    clear();
    return std::move(slots_);
  }

  std::uint32_t capacity() const { return capacity_; }
  std::uint32_t size() const { return tail_ - head_; }
  bool empty() const { return tail_ == head_; }
  bool full() const { return size() == capacity_; }

  SendRequest& back_slot() { return at(tail_); }  // to be filled, then push()
  void push() { ++tail_; }
  SendRequest& front() { return at(head_); }
  SendRequest& peek(std::uint32_t behind_front) { return at(head_ + behind_front); }
  void pop() { ++head_; }
  void clear() { head_ = tail_; }

 private:
  SendRequest& at(std::uint32_t position) {
    return *reinterpret_cast<SendRequest*>(slots_.get() + std::size_t{position & mask_} * stride_);
  }

  std::shared_ptr<std::byte[]> slots_;
  std::uint32_t capacity_ = 0, mask_ = 0, stride_ = 0;
  std::uint32_t head_ = 0, tail_ = 0;
};

}  // namespace gdr::rnic
