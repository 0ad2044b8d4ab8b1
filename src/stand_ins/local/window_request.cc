// Binding and invalidating memory windows: requests that go nowhere but to this process's own
// table. They end once nobody copies under the window's former key any more.
#include "local/local_path.h"

namespace gdr::local {
namespace {

constexpr int kWaiting = 1;  // Requester::phase

}  // namespace

Advance LocalPath::window_request(QueuePair& queue_pair, Requester& requester) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  rnic::RegionTable& regions = adapter_->regions();
  const std::uint32_t domain = queue_pair.settings().protection_domain;
  const std::uint32_t number = queue_pair.number();
  const bool binds = request.opcode == IBV_WR_BIND_MW;
  const auto refuse = [&] {
    return break_off(queue_pair, requester, IBV_WC_MW_BIND_ERR, rnic::Failure::kNone);
  };
  if (requester.phase != kWaiting) {
    if (binds) {
      if (!regions.may_bind(request.window_bind(), domain)) return refuse();
      regions.unbind(request.window_bind().window);
    } else if (!regions.invalidate_window(request.immediate, domain, number)) {
      return refuse();
    }
    requester.copies = adapter_->copies_in_progress();
    requester.phase = kWaiting;
  }
  // Not by waiting: the copy may be one that this very thread has to go on with.
  std::erase_if(requester.copies, [&](const rnic::CopyInProgress& copy) {
    return rnic::has_ended(*copy.lock, copy.holding, peers_);
  });
  if (!requester.copies.empty()) return later(requester, kLockRetry);
  service_->settle();
  requester.phase = 0;
  if (binds && !regions.bind(request.window_bind(), domain, number)) return refuse();
  requester.stop_waiting();
  queue_pair.complete_front(IBV_WC_SUCCESS, 0);
  return Advance::kCompleted;
}

}  // namespace gdr::local
