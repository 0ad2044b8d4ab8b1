// EngineThread: goes on with the send rings whose front request could not be carried out at once: a
// receive is missing, a GPU has to copy, another process has to. Sleeps on a futex in the segment,
// where other processes can wake it, and spins only while a GPU copy is in flight and for some
// microseconds behind it. Of many rings with copies in flight, a round of it costs what those cost
// whose copies have ended.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "local/copy.h"
#include "rnic/queue_pair.h"

namespace gdr::local {

class LocalPath;

class EngineThread {
 public:
  // `header`: of this process's own segment.
  EngineThread(LocalPath& path, rnic::SegmentHeader& header) : path_(path), header_(header) {}
  ~EngineThread();  // while no queue pair exists
  Result<void> start();

  // The ring is not empty and nobody else goes on with it. Called under its send lock. `has_news`
  // lives as long as the queue pair.
  void add(std::shared_ptr<rnic::QueuePair> queue_pair, const std::atomic<bool>& has_news);

 private:
  struct Ring {
    std::shared_ptr<rnic::QueuePair> queue_pair;
    const std::atomic<bool>* has_news;
    Copy::InFlight copy;  // that it waits for alone
    Nanoseconds looked_at = 0;
  };
  // A round holds what one look at all rings has found so far.
  struct Round {
    Nanoseconds time;
    Nanoseconds retry_at;
    bool is_busy = false;
    memory::PeerMemoryClient* up_to_date = nullptr;  // whose copies need not be looked at
  };
  void run();
  static bool waits_for_copy(const Ring& ring, Round& round);
  bool go_on(Ring& ring, Round& round);
  void sleep(std::uint32_t seen, Nanoseconds until);

  LocalPath& path_;
  rnic::SegmentHeader& header_;
  std::atomic<bool> stopping_{false}, stopped_{true};
  std::atomic<std::uint32_t> sleeps_{0};
  std::mutex mutex_;
  std::vector<Ring> arrived_;  // under mutex_
};

}  // namespace gdr::local
