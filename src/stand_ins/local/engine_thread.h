// EngineThread: goes on with the send rings whose front request could not be carried out at once: a
// receive is missing, a GPU has to copy, another process has to. Sleeps on a futex in the segment,
// where other processes can wake it, and spins only while a GPU copy is in flight and for some
// microseconds behind it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rnic/queue_pair.h"

namespace gdr::local {

class LocalPath;

class EngineThread {
 public:
  // `header`: of this process's own segment.
  EngineThread(LocalPath& path, rnic::SegmentHeader& header) : path_(path), header_(header) {}
  ~EngineThread();  // while no queue pair exists
  Result<void> start();

  // The ring is not empty and nobody else goes on with it. Called under its send lock.
  void add(std::shared_ptr<rnic::QueuePair> queue_pair);

 private:
  void run();
  void sleep(std::uint32_t seen, Nanoseconds until);

  LocalPath& path_;
  rnic::SegmentHeader& header_;
  std::atomic<bool> stopping_{false}, stopped_{true};
  std::atomic<std::uint32_t> sleeps_{0};
  std::mutex mutex_;
  std::vector<std::shared_ptr<rnic::QueuePair>> arrived_;  // under mutex_
};

}  // namespace gdr::local
