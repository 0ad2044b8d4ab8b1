// Bytes that go into GPU memory, and what waits for them: completions on both sides. The
// transport's answers wait in the engine, which asks what has been placed.
//
// While bytes are on their way the queue pair holds its responder lock, so that deregistration
// waits for them.
#include "net/packet_queue_pair.h"
#include "rnic/delivery/registered_bytes.h"

namespace gdr::net {
namespace {

// Deregistration waits for the lock to be let go of, also of memory that is none of these bytes';
// and while bytes flow, arrivals wait each time for the copies that are under way.
constexpr Nanoseconds kLongestHold = 10 * kMillisecond;

}  // namespace

bool PacketQueuePair::is_placing() const {
  return last_piece_ > placer_.placed() || !deferred_receives_.empty() || !deferred_works_.empty();
}

// `joins`: see Placer::put. `in_turn`: also ordinary memory is written behind what is on its way.
bool PacketQueuePair::store(const rnic::Place& place, std::span<const std::byte> bytes, bool joins,
                            bool in_turn) {
  const bool waits = in_turn && last_piece_ > placer_.placed();
  if (bytes.empty() || datagram_ || (place.cpu_reachable() && !waits)) {
    return rnic::write_registered(place, bytes);
  }
  if (loss_.load(std::memory_order_relaxed) != Placer::kNone) return false;
  if (hold_responder() && store_later(place, bytes, joins)) return true;
  placer_.drain(last_piece_);
  return loss_.load(std::memory_order_relaxed) == Placer::kNone &&
         rnic::write_registered(place, bytes);
}

// False: there is no room, although nothing of this queue pair is on its way any more.
bool PacketQueuePair::store_later(const rnic::Place& place, std::span<const std::byte> bytes,
                                  bool joins) {
  std::optional<Placer::Ticket> piece = placer_.put(place, bytes, joins, loss_);
  if (!piece && last_piece_ > placer_.placed()) {
    placer_.drain(last_piece_);
    piece = placer_.put(place, bytes, joins, loss_);
  }
  if (!piece) return false;
  last_piece_ = *piece;
  return true;
}

bool PacketQueuePair::settle(Nanoseconds time, std::vector<std::uint32_t>& due) {
  tell_placed(&due);
  works_ahead_.advance();
  answers_ahead_.advance();
  packets_have_left();
  if (queue_pair_.send_ring().empty()) works_ahead_.clear();
  end_long_hold(time, due);
  return is_moving();
}

void PacketQueuePair::tell_placed(std::vector<std::uint32_t>* due) {
  const Placer::Ticket placed = placer_.placed();
  while (!deferred_receives_.empty() && deferred_receives_.front().piece <= placed) {
    DeferredReceive next = deferred_receives_.front();
    deferred_receives_.pop_front();
    rnic::SharedCompletion& completion = next.completed.completion;
    if (is_lost(next.piece) && completion.status == IBV_WC_SUCCESS) {
      completion.status =
          completion.opcode == IBV_WC_RECV ? IBV_WC_LOC_PROT_ERR : IBV_WC_WR_FLUSH_ERR;
    }
    receives_.push(next.completed, due);
    received_ = true;
  }
  while (!deferred_works_.empty() && deferred_works_.front().piece <= placed) {
    const DeferredWork next = deferred_works_.front();
    deferred_works_.pop_front();
    const bool has_failed = next.status != engine::Status::kSuccess;
    const bool fails_now = !has_failed && is_lost(next.piece);
    finish_work(fails_now ? engine::Status::kLocalProtectionError : next.status);
    if (!has_failed && !fails_now) continue;
    requests_failed_ = true;  // all behind it was flushed
    deferred_works_.clear();
  }
}

void PacketQueuePair::finish_moving() {
  placer_.drain(last_piece_);
  tell_placed(nullptr);
  works_ahead_.finish();
  answers_ahead_.finish();
  works_ahead_.clear();
  answers_ahead_.clear();
}

// Between two packets, when nothing that was looked up is in use.
void PacketQueuePair::end_long_hold(Nanoseconds time, std::vector<std::uint32_t>& due) {
  if (!holds_responder_ || time < held_since_ + kLongestHold) return;
  placer_.drain(last_piece_);
  tell_placed(&due);
  works_ahead_.finish();
  answers_ahead_.finish();
  release_responder();
}

}  // namespace gdr::net
