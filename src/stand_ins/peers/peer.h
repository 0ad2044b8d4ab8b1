// Peer: another process of this host that has met this one: its mapped segment, its doorbell, and
// whether it lives. Shared by every queue pair that talks to it; unmapped with the last of them.
//
// Identity: the pid is used only while a pidfd and a connection made by that very process are both
// quiet. A pid cannot come round within the few milliseconds for which an answer is kept, since the
// kernel hands out pids in turn. A connection over which two processes may have met is closed by
// nobody, so that its end means that the other process ended, or called exec.
//
// Its end comes in two steps. When its connection closes it has no threads any more, and nothing
// goes there. But the kernel may close the connection before the GPU's descriptors, and until those
// are closed the GPU goes on with the copies that the process has queued. So a peer that has opened
// others' GPU memory has ended only when its pidfd says so.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "peers/activity.h"
#include "peers/event_pipes.h"
#include "peers/foreign_memory.h"
#include "peers/handshake.h"
#include "rnic/segment.h"
#include "rnic/shared_lock.h"

namespace gdr::peers {

class Peer {
 public:
  // Maps the segment and opens the pidfd. EPROTO for a segment that is not sound.
  static Result<std::shared_ptr<Peer>> meet(Identity identity, Introduction introduction,
                                            UniqueFd connection);

  rnic::Token token() const { return token_; }
  int pid() const { return pid_; }
  rnic::Segment& segment() { return *segment_; }
  int pidfd() const { return pidfd_.get(); }
  // /proc/PID/mem; -1 where the kernel or the mount of /proc does not allow it. Hot.
  int memory_file() const { return memory_file_.get(); }

  // A second connection between the same two: both may have called at once.
  void keep(UniqueFd connection);
  void take_connections(Peer& other);
  void close_in_child();  // after fork: no lock, one thread

  // Cheap: asks the kernel at most once a tick of the coarse clock. Once false, always false. Hot.
  bool alive();
  // Asks the kernel now.
  bool check_alive();
  // Whether nothing of it can write here any more, nor read: then what it held may be taken over.
  // Asks the kernel. Once true, always true.
  bool has_ended();

  // See rnic::Liveness::cut_off.
  bool cut_off(rnic::HeldFor purpose, Nanoseconds waited);

  // process_vm_* was refused for this process: its service thread copies instead.
  bool copies_are_refused() const { return refused_.load(std::memory_order_relaxed); }
  void set_copies_refused() { refused_.store(true, std::memory_order_relaxed); }

  // A queue pair of this process is or was connected to one of it: its memory may be needed.
  void set_connected_to() { connected_to_.store(true); }
  bool is_connected_to() const { return connected_to_.load(); }
  ForeignMemory& foreign_memory() { return foreign_memory_; }

  void tell_of_exports();  // other memory of this process than before can be opened
  void ring_service();     // wakes its service thread
  // After a push that made an event due on that queue of its: wakes the program that waits for it,
  // or has its service thread do so.
  void raise_event(std::uint32_t queue);
  void wake_engine();  // wakes its engine thread

 private:
  void open_memory();
  bool may_still_copy() const;
  Peer(Identity identity, rnic::Token token, std::unique_ptr<rnic::Segment> segment,
       UniqueFd doorbell);

  const int pid_, proc_pid_;
  const rnic::Token token_;
  const std::unique_ptr<rnic::Segment> segment_;
  UniqueFd doorbell_;
  UniqueFd pidfd_;
  UniqueFd memory_file_;
  ActivityWatch activity_;
  std::atomic<Nanoseconds> died_at_{0};  // 0: it is alive
  std::atomic<bool> ended_{false};
  std::atomic<bool> refused_{false};
  std::atomic<bool> connected_to_{false};
  ForeignMemory foreign_memory_;
  EventPipes event_pipes_;
  std::atomic<Nanoseconds> asked_{0};
  std::mutex mutex_;
  std::vector<UniqueFd> connections_;  // under mutex_
};

// Whether what a lock's word says of a process that lives cannot be so (any more), after somebody
// has waited for that long. `by_gpu`: its GPU may copy under the lock; `itself`: it is this
// process.
bool holds_no_more(ActivityWatch& watch, rnic::HeldFor purpose, Nanoseconds waited, bool by_gpu,
                   bool itself = false);

// Wakes a process's engine thread; peers spare themselves the call where it does not sleep.
void wake_sleeper(rnic::SegmentHeader& header);
// The same where only one that says that it sleeps needs the system call.
void wake_sleeper_if(rnic::SegmentHeader& header, const std::atomic<std::uint32_t>& sleeps);

}  // namespace gdr::peers
