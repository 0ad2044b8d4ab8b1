// Short sends of a posted list go together: what is the same for all of them is checked once, and
// their completions begin to count at once. A list is one call of the program, so nobody can tell.
// A single one is a list of one. What does not go this way, or not now, goes one by one
// (advance()).
#include <algorithm>
#include <cstring>

#include "local/fault_hooks.h"
#include "local/requester.h"

namespace gdr::local {
namespace {

bool is_short_send(const rnic::SendRequest& request) {
  const bool in_one_stretch = (request.flags & IBV_SEND_INLINE) != 0 || request.segment_count == 1;
  return request.opcode == IBV_WR_SEND && request.fetch == 0 &&
         request.total_bytes - 1 < rnic::kCarriedBytes && in_one_stretch;
}

}  // namespace

// Null: it is not where any instruction may read it. `own`: where the last one's were.
const std::byte* Requester::short_bytes(const rnic::SendRequest& of, rnic::KnownRange& own) {
  const auto* bytes = reinterpret_cast<const std::byte*>(of.inline_data().data());
  if ((of.flags & IBV_SEND_INLINE) == 0) {
    const ibv_sge& segment = of.segments().front();
    if (!own.covers(segment.lkey, segment.addr, segment.length)) {
      own = adapter.regions().know(segment.lkey, queue_pair.domain_of(of), rnic::kUseAsLocalKey);
      if (!own.covers(segment.lkey, segment.addr, segment.length)) return nullptr;
    }
    bytes = reinterpret_cast<const std::byte*>(own.address + (segment.addr - own.iova));
  }
  if (of.total_bytes % 16 == 0) return bytes;
  std::memcpy(carried, bytes, of.total_bytes);
  return carried;
}

// True: the target is locked, and takes messages of this queue pair. False: if it is locked, it is
// kept so for whoever finds out more.
bool Requester::enter_run() {
  if (has_kept_target()) return true;  // and has been looked at
  const ibv_qp_attr& attributes = queue_pair.attributes();
  if (find_target(attributes.dest_qp_num) != Presence::kThere || !target.may_take_runs() ||
      !target.try_lock(kLockSpins)) {
    target = Target();
    return false;
  }
  kept = 1;
  return target.readiness(IBV_QPT_RC) == Readiness::kReady &&
         target.connected_to(queue_pair.number()) &&
         (attributes.ah_attr.is_global == 0 || target.has_gid(attributes.ah_attr.grh.dgid.raw));
}

Requester::RunWent Requester::send_run() {
  rnic::SendRing& ring = queue_pair.send_ring();
  if (queue_pair.type() != IBV_QPT_RC || !is_short_send(ring.front()) || !ahead.empty() ||
      progress.index() != 0 || faults::is_any()) {
    return RunWent::kNothing;
  }
  Run run;
  if (!enter_run()) return RunWent::kNothing;
  target.await_receives(ring.size());
  if (!target.begin_run(&run)) return RunWent::kNothing;
  rnic::KnownRange own;
  std::uint64_t payload = 0;
  bool is_told = false;  // of the last one
  const std::uint32_t most = std::min(ring.size(), rnic::kMostTogether);
  while (!is_told && run.completions.size() < most) {
    const rnic::SendRequest& request = ring.peek(run.completions.size());
    if (!is_short_send(request)) break;
    const std::byte* bytes = short_bytes(request, own);
    if (bytes == nullptr) break;
    const auto length = static_cast<std::uint32_t>(request.total_bytes);
    if (!target.add_to_run(run, {bytes, length, queue_pair.number()})) break;
    payload += padded(length);
    is_told = queue_pair.is_signalled(request);
  }
  const std::uint32_t sent = run.completions.size();
  if (sent == 0) return RunWent::kNothing;
  if (is_told) queue_pair.begin_to_end();
  if (!target.end_run(run)) {
    begin_again(kLockRetry);
    return RunWent::kWaits;
  }
  count_short_sends(*this, sent, payload);
  finish_run(sent, is_told);
  return RunWent::kSent;
}

// Nobody's lock is held while the completion of this process's own is pushed.
void Requester::finish_run(std::uint32_t sent, bool is_told) {
  rnic::SendRing& ring = queue_pair.send_ring();
  kept += sent;
  if (is_told || sent == ring.size() || kept >= kMostKept) {
    abandon();
  } else {
    (void)target.settle_receive();  // who was cut off is told so by whatever comes next
  }
  for (std::uint32_t i = is_told ? 1 : 0; i < sent; ++i) ring.pop();
  if (!is_told) return;
  add_uncounted(*this);
  queue_pair.complete_front(IBV_WC_SUCCESS, static_cast<std::uint32_t>(ring.front().total_bytes));
}

}  // namespace gdr::local
