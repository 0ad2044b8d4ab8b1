#include "net/flood_gate.h"

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "engine/transmit.h"

namespace gdr::net {
namespace {

constexpr Nanoseconds kWindow = 10 * kMillisecond;
constexpr std::uint32_t kMostInWindow = 100;
constexpr Nanoseconds kShortest = kSecond, kLongest = 16 * kSecond;
constexpr Nanoseconds kForgotten = 10 * kSecond;  // without a flood
constexpr Nanoseconds kCount = 100 * kMillisecond;

std::uint32_t drops_of(int socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
  socklen_t length = sizeof info;
  if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, info.data(), &length) != 0) return 0;
  return info[SK_MEMINFO_DROPS];
}

}  // namespace

bool FloodGate::refused(Nanoseconds time) {
  if (time - window_begin_ > kWindow) {
    window_begin_ = time;
    in_window_ = 0;
  }
  return ++in_window_ > kMostInWindow && !is_shut() && shut(time);
}

bool FloodGate::shut(Nanoseconds time) {
  const std::lock_guard guard(mutex_);
  const bool again = opened_at_ != 0 && time - opened_at_ < kForgotten;
  span_ = again ? std::min(2 * span_, kLongest) : kShortest;
  until_ = time + span_;
  drops_ = drops_of(socket_);
  shut_.store(true);
  if (!install()) shut_.store(false);
  return is_shut();
}

void FloodGate::flows_changed() {
  if (!is_shut() && ipv4_) return;
  const std::lock_guard guard(mutex_);
  (void)install();
}

bool FloodGate::install() {
  if (!is_shut() && ipv4_) return apply_filter(socket_, {});
  const PortRules rules = rules_();
  return apply_filter(socket_, is_shut() ? wanted_only(rules) : no_forged_hosts(rules));
}

void FloodGate::count_drops() {
  const std::uint32_t drops = drops_of(socket_);
  counters_.add(Counter::kDroppedByFilter, drops - drops_);
  drops_ = drops;
}

Nanoseconds FloodGate::run(Nanoseconds time) {
  if (!is_shut()) return engine::kNever;
  const std::lock_guard guard(mutex_);
  count_drops();
  if (time < until_) return std::min(until_, time + kCount);
  shut_.store(false);
  opened_at_ = time;
  (void)install();
  return engine::kNever;
}

}  // namespace gdr::net
