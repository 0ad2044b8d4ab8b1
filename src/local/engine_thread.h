// EngineThread: goes on with the send rings whose front request could not be carried out at once: a
// receive is missing, a GPU has to copy, another process has to. Started by the first such ring;
// sleeps on a futex in the segment, where other processes can wake it, and spins only while a GPU
// copy is in flight.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "rnic/queue_pair.h"

namespace gdr::local {

class LocalPath;

class EngineThread {
 public:
  explicit EngineThread(LocalPath& path) : path_(path) {}

  // The ring is not empty and nobody else goes on with it. Called under its send lock.
  void add(std::shared_ptr<rnic::QueuePair> queue_pair, rnic::SegmentHeader& header);

 private:
  void run(rnic::SegmentHeader& header);
  void sleep(rnic::SegmentHeader& header, std::uint32_t seen, Nanoseconds until);

  LocalPath& path_;
  std::mutex mutex_;
  bool started_ = false;                                   // under mutex_
  std::vector<std::shared_ptr<rnic::QueuePair>> arrived_;  // under mutex_
};

}  // namespace gdr::local
