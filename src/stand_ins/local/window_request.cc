// Binding and invalidating memory windows.
#include "local/local_path.h"

namespace gdr::local {

Advance LocalPath::window_request(QueuePair& queue_pair, Requester& requester) {
  switch (requester.window.go_on(*adapter_, queue_pair)) {
    case rnic::WindowChange::Went::kWaits:
      return later(requester, kLockRetry);
    case rnic::WindowChange::Went::kRefused:
      return break_off(queue_pair, requester, IBV_WC_MW_BIND_ERR, rnic::Failure::kNone);
    case rnic::WindowChange::Went::kDone:
      break;
  }
  requester.stop_waiting();
  queue_pair.complete_front(IBV_WC_SUCCESS, 0);
  return Advance::kCompleted;
}

}  // namespace gdr::local
