#include "peers/opener.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/quiet_thread.h"

namespace gdr::peers {
namespace {

constexpr useconds_t kBetweenUpdates = 1000;  // of one that never stops changing

bool wants_update(Peer& peer) {
  return peer.is_connected_to() && peer.foreign_memory().is_outdated(peer.segment());
}

}  // namespace

void Opener::look() {
  const auto peers = peers_.everyone();
  const bool wanted =
      std::any_of(peers.begin(), peers.end(), [](const auto& peer) { return wants_update(*peer); });
  if (!wanted) return;
  const std::lock_guard guard(mutex_);
  ask();
}

void Opener::try_again() {
  for (const auto& peer : peers_.everyone())
    peer->foreign_memory().forget_failures(peer->segment());
  look();
}

void Opener::run_soon(std::function<void()> job) {
  const std::lock_guard guard(mutex_);
  jobs_.push_back(std::move(job));
  ask();
}

void Opener::close(std::unique_ptr<memory::PinnedMemory> memory) {
  if (forked_.load()) {
    (void)memory.release();
    return;
  }
  const std::lock_guard guard(mutex_);
  closing_.push_back(std::move(memory));
  ask();
}

// Under mutex_. Where no thread can be had now, the next one that asks tries again.
void Opener::ask() {
  if (!is_running_) {
    is_running_ = static_cast<bool>(start_quiet_thread("gdr-open", [this] { run(); }));
  }
  is_asked_ = true;
  asked_.notify_one();
}

// Whether something has changed meanwhile, once more.
bool Opener::update_all() {
  bool again = false;
  for (const auto& peer : peers_.everyone()) {
    if (!wants_update(*peer) || !peer->alive()) continue;
    header_->copies_by_gpu.store(1);
    peers_.set_copies_by_gpu();
    peer->foreign_memory().update(peer->segment(), peer->pidfd(), *this);
    again |= wants_update(*peer);
  }
  return again;
}

void Opener::run() {
  std::vector<std::unique_ptr<memory::PinnedMemory>> closing;
  while (true) {
    std::vector<std::function<void()>> jobs;
    {
      std::unique_lock guard(mutex_);
      asked_.wait(guard, [this] { return is_asked_; });
      is_asked_ = false;
      closing.swap(closing_);
      jobs.swap(jobs_);
    }
    closing.clear();
    for (const auto& job : jobs) job();
    while (update_all()) usleep(kBetweenUpdates);
  }
}

}  // namespace gdr::peers
