// WindowChange: a request that binds or invalidates a memory window. It goes nowhere but to this
// process's own table, and ends once nobody copies under the window's former key any more.
#pragma once

#include <vector>

#include "rnic/adapter.h"

namespace gdr::rnic {

class WindowChange {
 public:
  enum class Went {
    kDone,
    kRefused,  // IBV_WC_MW_BIND_ERR
    kWaits,    // ask again: never by waiting here, where the copy may be this very thread's
  };
  // The front request of the queue pair, as far as it goes now. Under its send lock.
  Went go_on(Adapter& adapter, QueuePair& queue_pair);

 private:
  static bool begin(RegionTable& regions, const QueuePair& queue_pair, const SendRequest& request);

  bool under_way_ = false;
  std::vector<CopyInProgress> copies_;  // that have to end first
  std::uint64_t served_ = 0;  // and the one that the service thread makes for another process
};

}  // namespace gdr::rnic
