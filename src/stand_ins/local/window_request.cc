// Binding and invalidating memory windows.
#include "local/requester.h"

namespace gdr::local {

Advance change_window(Requester& requester) {
  if (requester.progress.index() == 0) requester.progress.emplace<rnic::WindowChange>();
  auto& change = std::get<rnic::WindowChange>(requester.progress);
  switch (change.go_on(requester.adapter, requester.queue_pair)) {
    case rnic::WindowChange::Went::kWaits:
      return requester.later(kLockRetry);
    case rnic::WindowChange::Went::kRefused:
      return requester.break_off(IBV_WC_MW_BIND_ERR);
    case rnic::WindowChange::Went::kDone:
      break;
  }
  return requester.complete();
}

}  // namespace gdr::local
