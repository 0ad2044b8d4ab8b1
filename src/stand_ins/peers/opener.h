// Opener: a thread that opens GPU memory of the processes that this one is connected to, as soon as
// they show it, and closes what they withdraw; and does what else may wait as long. All that may
// wait behind the program's kernels, which may wait for the network: so no thread that serves the
// network does it. Until it is done, the memory's owner copies.
//
// The thread is there from the first such memory on. After a fork there is none in the child, where
// the driver must not be called either: what is let go of there stays open.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "peers/peers.h"

namespace gdr::peers {

class Opener final : public MemoryCloser {
 public:
  explicit Opener(Peers& peers) : peers_(peers) {}
  // Where this process tells the others that its GPU copies. Before the first look.
  void tell_in(rnic::SegmentHeader& header) { header_ = &header; }
  // A peer may show other memory than before, or is connected to now. Cheap when none does.
  void look();
  // This process uses a GPU that it may not have used before: what failed is tried again.
  void try_again();
  // Does that, too, which may wait for kernels.
  void run_soon(std::function<void()> job);
  void close(std::unique_ptr<memory::PinnedMemory> memory) override;
  void child_of_fork() { forked_.store(true); }

 private:
  void ask();
  void run();
  bool update_all();

  Peers& peers_;
  rnic::SegmentHeader* header_ = nullptr;
  std::atomic<bool> forked_{false};
  std::mutex mutex_;
  std::condition_variable asked_;
  std::vector<std::function<void()>> jobs_;                     // under mutex_
  bool is_asked_ = false, is_running_ = false;                  // under mutex_
  std::vector<std::unique_ptr<memory::PinnedMemory>> closing_;  // under mutex_
};

}  // namespace gdr::peers
