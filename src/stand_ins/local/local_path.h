// LocalPath: carries out work requests between processes of one host. The initiator does all of the
// work; the target's CPU takes no part.
//
//   post_send -> send() -> Requester::advance() for the front request, until the ring is empty or
//   the front one must wait; then the engine thread goes on with the ring, so that nothing
//   overtakes.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "local/copy_crew.h"
#include "local/engine_thread.h"
#include "local/requester.h"
#include "local/staging.h"
#include "peers/neighbours.h"
#include "rnic/carrier.h"

namespace gdr::local {

// RingWaits: why a ring could not be emptied, and when to come back to it.
struct RingWaits {
  Nanoseconds retry_at = 0;
  bool is_busy = false;  // for a copy that wakes nobody
  // For this copy alone: before it is over, and while nothing is posted, nothing can be done. No
  // client: for other things.
  Copy::InFlight copy;
};

class LocalPath final : public rnic::LocalCarrier {
 public:
  static Result<std::unique_ptr<LocalPath>> make(rnic::Adapter& adapter,
                                                 peers::Neighbours& neighbours);

  void send(rnic::QueuePair& queue_pair) override;
  void send_later(rnic::QueuePair& queue_pair) override;
  int connect(rnic::QueuePair& queue_pair) override;
  void cancel(rnic::QueuePair& queue_pair) override;
  void settle(rnic::QueuePair& queue_pair) override;
  bool is_settled(rnic::QueuePair& queue_pair) override;

  // Engine thread: as far as the ring goes now. What it waits for then; nothing: it is empty.
  std::optional<RingWaits> go_on(rnic::QueuePair& queue_pair);

  // --- For requesters.
  rnic::Adapter& adapter() { return adapter_; }
  peers::Neighbours& neighbours() { return neighbours_; }
  Means means() { return {staging_, crew_}; }
  // Copies of this client go through the staging: its pages are locked, soon and once.
  void lock_staging(memory::PeerMemoryClient& client);

 private:
  LocalPath(rnic::Adapter& adapter, peers::Neighbours& neighbours);
  Requester& requester_of(rnic::QueuePair& queue_pair);

  rnic::Adapter& adapter_;
  peers::Neighbours& neighbours_;
  Staging staging_;
  CopyCrew crew_;
  std::atomic<bool> staging_is_locked_{false};  // or will be
  EngineThread engine_;
};

}  // namespace gdr::local
