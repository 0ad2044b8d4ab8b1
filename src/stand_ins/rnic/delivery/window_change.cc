#include "rnic/delivery/window_change.h"

namespace gdr::rnic {

bool WindowChange::begin(RegionTable& regions, const QueuePair& queue_pair,
                         const SendRequest& request) {
  const std::uint32_t domain = queue_pair.settings().protection_domain;
  if (request.opcode != IBV_WR_BIND_MW) {
    return regions.invalidate_window(request.immediate, domain, queue_pair.number());
  }
  if (!regions.may_bind(request.window_bind(), domain)) return false;
  regions.unbind(request.window_bind().window);
  return true;
}

WindowChange::Went WindowChange::go_on(Adapter& adapter, QueuePair& queue_pair) {
  const SendRequest& request = queue_pair.send_ring().front();
  RegionTable& regions = adapter.regions();
  if (!under_way_) {
    if (!begin(regions, queue_pair, request)) return Went::kRefused;
    copies_ = adapter.copies_in_progress();
    served_ = adapter.neighbours().copies_for_others();
    under_way_ = true;
  }
  std::erase_if(copies_, [&](const CopyInProgress& copy) {
    return has_ended(*copy.lock, copy.holding, adapter.liveness());
  });
  const bool serves = served_ % 2 == 1 && adapter.neighbours().copies_for_others() == served_;
  if (!copies_.empty() || serves) return Went::kWaits;
  under_way_ = false;
  const bool bound = request.opcode != IBV_WR_BIND_MW ||
                     regions.bind(request.window_bind(), queue_pair.settings().protection_domain,
                                  queue_pair.number());
  return bound ? Went::kDone : Went::kRefused;
}

}  // namespace gdr::rnic
