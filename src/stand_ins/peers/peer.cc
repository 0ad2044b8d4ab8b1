#include "peers/peer.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/kill_point.h"
#include "memory/own_memory.h"
#include "peers/doorbell.h"
#include "peers/task_stat.h"
#include "rnic/completion_ring.h"
#include "rnic/due.h"

namespace gdr::peers {
namespace {

// A process that lives on without its connection has closed its GPU's descriptors, too (exec,
// closefrom): for so long the driver may be at it.
constexpr Nanoseconds kLongestClosing = kSecond;
// A process whose exit takes longer hangs in the kernel, and its GPU has been reset or is lost.
constexpr Nanoseconds kLongestExit = 30 * kSecond;
// So long a process that goes on may hold a lock: one that only sleeps has either been frozen (a
// paused container) or does not hold what the lock's word says.
constexpr Nanoseconds kLongestIdle = 300 * kMillisecond;
constexpr Nanoseconds kLongestBookkeeping = kSecond;
constexpr Nanoseconds kLongestHold = 5 * kSecond;
constexpr Nanoseconds kLongestOwnCopy =
    2 * kSecond;  // within a process there is no page to wait for
constexpr Nanoseconds kLongestGpuCopy = 30 * kSecond;
constexpr unsigned long kExitingFlag = 4;  // PF_EXITING of the kernel, as /proc/PID/stat gives it

// A call that fails (a signal is pending, say) says nothing: quiet until proved otherwise.
bool is_quiet(int descriptor, short asked) {
  pollfd one{descriptor, asked, 0};
  return poll(&one, 1, 0) <= 0;
}

// Whether the process is on its way out.
bool is_exiting(int proc_pid) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/stat", proc_pid);
  const std::optional<TaskStat> stat = read_task_stat(path);
  return stat && (stat->flags & kExitingFlag) != 0;
}

void wake_all(std::atomic<std::uint32_t>& futex) {
  syscall(SYS_futex, &futex, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

void wake_sleeper(rnic::SegmentHeader& header) {
  header.worker_wake.fetch_add(1);
  wake_all(header.worker_wake);
}

// Counted before the flag is looked at: whoever goes to sleep from now on sees that.
void wake_sleeper_if(rnic::SegmentHeader& header, const std::atomic<std::uint32_t>& sleeps) {
  header.worker_wake.fetch_add(1);
  if (sleeps.load() != 0) wake_all(header.worker_wake);
}

Result<std::shared_ptr<Peer>> Peer::meet(Identity identity, Introduction introduction,
                                         UniqueFd connection) {
  if (!is_connected(connection.get())) return Error{ESRCH, "the process went away"};
  Result<std::unique_ptr<rnic::Segment>> segment =
      rnic::Segment::map(std::move(introduction.segment));
  if (!segment) return segment.error();
  if ((*segment)->header().token != introduction.token) {
    return Error{EPROTO, "a process's segment is not its own"};
  }
  std::shared_ptr<Peer> peer(new Peer(std::move(identity), introduction.token, *std::move(segment),
                                      std::move(introduction.doorbell)));
  if (peer->pidfd_ && memory::can_copy_by_kernel()) {
    peer->open_memory();
  } else {
    peer->set_copies_refused();  // nobody could say whose number that is; or not allowed anywhere
  }
  peer->keep(std::move(connection));
  return peer;
}

Peer::Peer(Identity identity, rnic::Token token, std::unique_ptr<rnic::Segment> segment,
           UniqueFd doorbell)
    : pid_(identity.pid),
      proc_pid_(identity.proc_pid),
      token_(token),
      segment_(std::move(segment)),
      doorbell_(std::move(doorbell)),
      pidfd_(std::move(identity.pidfd)),
      activity_(identity.proc_pid),
      event_pipes_(identity.proc_pid) {}

// The mount of /proc may be another namespace's, where the pid is somebody else's: so what only
// that process's memory holds has to be found there.
void Peer::open_memory() {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/mem", pid_);
  UniqueFd file(open(path, O_RDWR | O_CLOEXEC));
  if (!file) return;
  const rnic::SegmentHeader& header = segment_->header();
  const std::uint64_t expected = rnic::read_once(header.identity);
  const std::uint64_t at =
      rnic::read_once(header.mapped_at) + offsetof(rnic::SegmentHeader, identity);
  std::uint64_t found = 0;
  const ssize_t got = pread(file.get(), &found, sizeof found, static_cast<off_t>(at));
  if (got == sizeof found && found == expected) memory_file_ = std::move(file);
}

void Peer::keep(UniqueFd connection) {
  const std::lock_guard guard(mutex_);
  connections_.push_back(std::move(connection));
}

void Peer::take_connections(Peer& other) {
  const std::scoped_lock guard(mutex_, other.mutex_);
  for (UniqueFd& connection : other.connections_) connections_.push_back(std::move(connection));
  other.connections_.clear();
}

void Peer::close_in_child() {
  connections_.clear();
  doorbell_.reset();
  pidfd_.reset();
  memory_file_.reset();
  event_pipes_.close_in_child();
}

bool Peer::alive() {
  if (died_at_.load(std::memory_order_acquire) != 0) return false;
  if (coarse_now() == asked_.load(std::memory_order_relaxed)) return true;
  return check_alive();
}

bool Peer::check_alive() {
  if (died_at_.load(std::memory_order_acquire) != 0) return false;
  bool alive = !pidfd_ || is_quiet(pidfd_.get(), POLLIN);
  if (alive) {
    // A process that called exec is the same process with other memory: its connections closed.
    const std::lock_guard guard(mutex_);
    for (const UniqueFd& connection : connections_) alive &= is_connected(connection.get());
  }
  asked_.store(coarse_now(), std::memory_order_relaxed);
  if (!alive) {
    Nanoseconds never = 0;
    died_at_.compare_exchange_strong(never, coarse_now());
  }
  return alive;
}

bool Peer::has_ended() {
  if (ended_.load(std::memory_order_acquire)) return true;
  if (check_alive() || may_still_copy()) return false;
  ended_.store(true, std::memory_order_release);
  return true;
}

// For a dead peer.
bool Peer::may_still_copy() const {
  if (segment_->header().copies_by_gpu.load() == 0) return false;
  if (pidfd_ && !is_quiet(pidfd_.get(), POLLIN)) return false;
  const Nanoseconds since = coarse_now() - died_at_.load();
  if (since < kLongestClosing) return true;
  return since < kLongestExit && pidfd_ && is_exiting(proc_pid_);
}

bool holds_no_more(ActivityWatch& watch, rnic::HeldFor purpose, Nanoseconds waited, bool by_gpu,
                   bool itself) {
  const Nanoseconds longest = by_gpu ? kLongestGpuCopy : itself ? kLongestOwnCopy : kLongestHold;
  if (waited >= longest) return true;
  if (purpose == rnic::HeldFor::kBookkeeping && waited >= kLongestBookkeeping) return true;
  // Its GPU may be at it while its threads sleep.
  if (by_gpu) return false;
  (void)watch.look();
  return waited >= kLongestIdle && watch.idle_for() >= kLongestIdle;
}

bool Peer::cut_off(rnic::HeldFor purpose, Nanoseconds waited) {
  rnic::SegmentHeader& header = segment_->header();
  const bool by_gpu = purpose == rnic::HeldFor::kCopies && header.copies_by_gpu.load() != 0;
  const bool overdue = holds_no_more(activity_, purpose, waited, by_gpu);
  if (!overdue && !activity_.is_stopped()) return false;
  header.epoch.fetch_add(1);
  if (overdue) return true;
  if (by_gpu && activity_.stopped_for() < kLongestClosing) return false;
  // Stopped, and stopped after its epoch had changed: whenever it goes on, it finds that out first.
  return activity_.is_stopped_now();
}

void Peer::tell_of_exports() {
  segment_->header().exports_rung.store(1);
  ring_service();
}

void Peer::ring_service() {
  if (segment_->header().service_rung.exchange(1) != 0) return;  // a ring is already on its way
  ring_doorbell(doorbell_.get());
}

void Peer::raise_event(std::uint32_t queue) {
  rnic::SharedCompletionQueue& shared = segment_->completion_queue(queue);
  const rnic::EventPipeName name{rnic::read_once(shared.pipe_descriptor),
                                 rnic::read_once(shared.pipe_inode)};
  const bool raised = event_pipes_.with(name, [&](int pipe) {
    if (!rnic::claim_event(shared)) return true;
    kill_point("event_claimed");
    if (rnic::put_event(pipe, name.inode, queue) == 0) return true;
    rnic::return_event(shared);
    return false;
  });
  if (raised) return;
  // The service thread may have looked while it was claimed here.
  rnic::mark_due(segment_->header().due_completion_queues, queue);
  ring_service();
}

void Peer::wake_engine() {
  rnic::SegmentHeader& header = segment_->header();
  wake_sleeper_if(header, header.worker_sleeps);
}

}  // namespace gdr::peers
