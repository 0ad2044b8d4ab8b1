// Short messages of one list that reach their receiver together. What was found to be so of the
// first of them stays so, as long as the queue pair is locked: who changes it waits for that.
#include <infiniband/verbs.h>

#include <algorithm>

#include "base/kill_point.h"
#include "base/restartable.h"
#include "base/spin_lock.h"
#include "local/target.h"

namespace gdr::local {
namespace {

constexpr std::uint32_t kFewReceives = 8;
constexpr int kReceiveSpins = 256;  // some microseconds

}  // namespace

bool Target::may_take_runs() const {
  return peer_ != nullptr && srq_ == nullptr && rnic::read_once(queue_pair_->srq) == 0 &&
         !peer_->copies_are_refused() &&
         rnic::CompletionRun::suits(
             segment_->completion_queue(rnic::read_once(queue_pair_->receive_completion_queue)));
}

void Target::await_receives(std::uint32_t wanted) const {
  wanted = std::min(wanted, kFewReceives);
  if (rnic::ready_receives(*queue_pair_) != 0) return;
  const std::uint32_t head = queue_pair_->receive_head.load(std::memory_order_relaxed);
  for (int i = 0; i < kReceiveSpins; ++i) {
    if (queue_pair_->receive_tail.load(std::memory_order_acquire) - head >= wanted) return;
    for (int pause = 0; pause < 4; ++pause) cpu_relax();
  }
}

bool Target::begin_run(Run* run) {
  if (!may_take_runs() || !rnic::is_receiving(*queue_pair_) || is_ending_send()) return false;
  run->head = queue_pair_->receive_head.load(std::memory_order_relaxed);
  run->ready = rnic::ready_receives(*queue_pair_);
  run->receives.emplace(*segment_, *queue_pair_);
  run->domain = rnic::read_once(queue_pair_->receive_domain);
  const bool is_sound = run->receives->base != nullptr && run->ready <= run->receives->capacity;
  return is_sound && run->ready != 0 &&
         run->completions.begin(*segment_, rnic::read_once(queue_pair_->receive_completion_queue),
                                held_, adapter_->token(), adapter_->liveness(), &producer_);
}

bool Target::add_to_run(Run& run, const ShortMessage& message) const {
  const std::uint32_t size = run.completions.size();
  if (size >= run.ready || !run.completions.has_room()) return false;
  const rnic::SharedReceive& entry = run.receives->at(run.head + size);
  __builtin_prefetch(reinterpret_cast<const std::byte*>(&entry) + kReceivesAhead);
  if (rnic::read_once(entry.segments) == 0 || run.receives->segments == 0) return false;
  const rnic::SharedSegmentEntry into = rnic::read_segment(entry, 0);
  if (into.length < message.bytes) return false;
  if (!run.to.covers(into.key, into.address, message.bytes)) {
    run.to = rnic::know_remote(*segment_, into.key, run.domain,
                               IBV_ACCESS_LOCAL_WRITE | rnic::kUseAsLocalKey);
    if (!run.to.covers(into.key, into.address, message.bytes)) return false;
  }
  return run.completions.write(held_,
                               rnic::in_registers({.wr_id = rnic::read_once(entry.wr_id),
                                                   .bytes = message.bytes,
                                                   .number = number(),
                                                   .source = message.source,
                                                   .to = into.address,
                                                   .key = into.key,
                                                   .receive = run.head + size + 1}),
                               message.carried, in_sixteens(message.bytes));
}

bool Target::end_run(const Run& run) {
  if (!rnic::take_receives_while(held_, *queue_pair_, run.completions.size())) return false;
  kill_point("receive_taken");
  if (!run.completions.count(held_)) return false;
  kill_point("receive_pushed");
  has_completed_ = true;
  return true;
}

}  // namespace gdr::local
