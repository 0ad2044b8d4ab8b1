#include "rnic/give_way.h"

#include <sched.h>
#include <sys/resource.h>

namespace gdr::rnic {
namespace {

constexpr Nanoseconds kAskAgain = kMillisecond;
constexpr Nanoseconds kContended = 50 * kMillisecond;  // some time slices
constexpr Nanoseconds kSlice = 500 * kMicrosecond;
constexpr Nanoseconds kOthersShare = 16;  // times as long as was lost

}  // namespace

bool GiveWay::is_contended(Nanoseconds time) {
  if (time - asked_at_.load(std::memory_order_relaxed) >= kAskAgain) {
    asked_at_.store(time, std::memory_order_relaxed);
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    const long before = switches_.exchange(usage.ru_nivcsw, std::memory_order_relaxed);
    if (usage.ru_nivcsw != before) {
      contended_until_.store(time + kContended, std::memory_order_relaxed);
    }
  }
  return time < contended_until_.load(std::memory_order_relaxed);
}

bool GiveWay::after_idle_look(Nanoseconds time) {
  if (!is_contended(time) || time < not_before_.load(std::memory_order_relaxed)) return false;
  sched_yield();
  return true;
}

void GiveWay::was_in_vain(Nanoseconds since) {
  const Nanoseconds time = now(), lost = time - since;
  if (lost >= kSlice) not_before_.store(time + kOthersShare * lost, std::memory_order_relaxed);
}

}  // namespace gdr::rnic
