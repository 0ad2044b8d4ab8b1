// PacketPath::Run: consecutive arrivals of one queue pair, for which it is locked, and answers,
// once. Part of PacketPath; for the files that take arrivals.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/spin_lock.h"
#include "net/packet_path.h"
#include "rnic/receive_ring.h"

namespace gdr::net {

// A congestion notification has an opcode of its own and goes to a connection of any kind.
inline bool is_for(const wire::Packet& packet, ibv_qp_type type) {
  if (type == IBV_QPT_RAW_PACKET) return false;
  if (packet.opcode == wire::kCongestionNotification) return type != IBV_QPT_UD;
  return packet.transport() == transport_of(type);
}

// The queue pair that packets go to, one after the other, locked until another one's comes.
class PacketPath::Run {
 public:
  Run(PacketPath& path, bool inline_progress) : path_(path), inline_progress_(inline_progress) {}
  ~Run() { end(); }

  // False: another thread uses it just now. Else enter() does not wait for it.
  bool try_enter(std::uint32_t number) {
    return begin(number, [](SpinLock& lock) { return lock.try_lock(); });
  }

  // Null: there is none, or it does not receive.
  PacketQueuePair* enter(std::uint32_t number) {
    begin(number, [](SpinLock& lock) { return lock.lock(), true; });
    return state_;
  }

  bool has_queue_pair() const { return queue_pair_ != nullptr && *queue_pair_ != nullptr; }

 private:
  template <typename Lock>
  bool begin(std::uint32_t number, const Lock& lock) {
    if (number == number_) return true;
    end();
    queue_pair_ = &path_.queue_pair(number);
    if (has_queue_pair() && !lock((*queue_pair_)->send_lock())) {
      queue_pair_ = nullptr;
      return false;
    }
    number_ = number;
    if (!has_queue_pair()) return true;
    rnic::QueuePair& queue_pair = **queue_pair_;
    if (rnic::is_receiving(queue_pair.shared()) && queue_pair.packet_state != nullptr) {
      state_ = &state_of(queue_pair);
    }
    return true;
  }

  void end() {
    number_ = kNone;
    if (queue_pair_ == nullptr || *queue_pair_ == nullptr) return;
    if (state_ != nullptr) answer();
    (*queue_pair_)->send_lock().unlock();
    queue_pair_ = nullptr;
    state_ = nullptr;
  }

  // Once for all that has arrived, see answer_all().
  void answer() {
    const bool received = state_->take_received();
    state_->release_responder();
    if (state_->is_moving()) path_.look_after(**queue_pair_);
    if (state_->connection() == nullptr) return;
    const bool later = received && inline_progress_;
    auto& waiting = later ? path_.deferred_ : path_.answers_;
    const bool known = !waiting.empty() && waiting.back() == *queue_pair_;
    if (known) return;
    if (waiting.size() < kMostWaiting) return waiting.push_back(*queue_pair_);
    path_.answer(**queue_pair_, now());
  }

  static constexpr std::uint32_t kNone = ~0u;
  PacketPath& path_;
  const bool inline_progress_;
  std::uint32_t number_ = kNone;
  const std::shared_ptr<rnic::QueuePair>* queue_pair_ = nullptr;  // its send lock is held
  PacketQueuePair* state_ = nullptr;
};

}  // namespace gdr::net
