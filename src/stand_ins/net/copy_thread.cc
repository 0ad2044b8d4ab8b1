#include "net/copy_thread.h"

#include <poll.h>
#include <sched.h>

#include "base/quiet_thread.h"
#include "base/spin_lock.h"
#include "net/packet_path.h"

namespace gdr::net {
namespace {

constexpr int kBetweenLooks = 8;  // half a microsecond

}  // namespace

Result<void> CopyThread::start() {
  if (Result<void> opened = doorbell_.open(); !opened) return opened.error();
  return start_quiet_thread("gdr-net-copy", [this] { run(); });
}

void CopyThread::sleep() {
  pollfd bell{doorbell_.descriptor(), POLLIN, 0};
  if (poll(&bell, 1, -1) > 0) doorbell_.empty();
}

void CopyThread::run() {
  while (true) {
    const bool has_work = path_.is_moving();
    const Nanoseconds time = now();
    if (has_work) awake_until_ = time + kStayAwake;
    const bool awake = has_work || time < awake_until_;
    if (!doorbell_.set_awake(awake) && !awake) sleep();
    doorbell_.take_ring();
    if (has_work) path_.move();
    // The progress thread works with most of the memory that this looks at.
    for (int i = 0; i < kBetweenLooks; ++i) cpu_relax();
    sched_yield();
  }
}

}  // namespace gdr::net
