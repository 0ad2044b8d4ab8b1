#include "perf/stage.h"

#include <algorithm>
#include <chrono>

namespace gdr::perf {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);

}  // namespace

bool Stage::await(Nanoseconds patience, const GoOn& go_on, const std::function<bool()>& done) {
  const Nanoseconds deadline = now() + patience;
  std::unique_lock lock(mutex_);
  while (!done()) {
    if (now() >= deadline || !go_on()) return false;
    changed_.wait_for(lock, kLook);
  }
  return true;
}

bool Stage::enter(Nanoseconds patience, const GoOn& go_on) {
  return await(patience, go_on, [this] { return taken_ ? false : (taken_ = true); });
}

void Stage::leave() {
  const std::lock_guard guard(mutex_);
  taken_ = false;
  changed_.notify_all();
}

void Stage::refill() {
  const Nanoseconds time = now();
  probes_ = std::min(kProbes, probes_ + static_cast<double>(time - refilled_at_) / kSecond);
  refilled_at_ = time;
}

bool Stage::take_probe(Nanoseconds patience, const GoOn& go_on) {
  return await(patience, go_on, [this] {
    refill();
    if (probes_ < 1) return false;
    probes_ -= 1;
    return true;
  });
}

void Stage::give_back_probe() {
  const std::lock_guard guard(mutex_);
  probes_ = std::min(kProbes, probes_ + 1);
}

}  // namespace gdr::perf
