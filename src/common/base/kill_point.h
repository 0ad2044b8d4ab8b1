// Places where a process of a test dies on purpose, as if by kill -9: GDR_KILL=NAME:COUNT ends it
// at the COUNTth passage of that place, GDR_STOP=NAME:COUNT stops it there (SIGSTOP). Compiled into
// what developers build (GDR_FAULT_HOOKS), where a place costs a load and a jump as long as neither
// variable is set; in packages every place is empty and the variables mean nothing.
//
//   post_send        work requests are in the send ring, none is carried out
//   locked           a request has the target's responder lock
//   copied           its bytes have been moved, nothing has been completed
//   receive_taken    its receive is off the target's queue, and not completed
//   receive_pushed   its receive's completion is there
//   receive_counted  its completion counts, and is not marked
//   pushing          a completion is written, and does not count yet; the producer lock is held
//   pushing_receive  the same, of a receive in another process
//   event_due        a completion event of another process is due, and nobody has been told
//   event_claimed    it counts as raised, and its record is not in the channel's pipe
//   poll_cq          completions are copied out of the ring, and still count as not polled
//
// And of gdr fix:
//
//   fix_planned         a change is about to be journalled
//   fix_journalled      its record is on disk, nothing is changed
//   fix_written_beside  a file's new content is beside it
//   fix_module_put      a module is in its place, and depmod has not run
//   fix_module_going    a module is out of its place, and depmod has not run
//   fix_changed         it is made
//   fix_read_back       and read back, and not marked as done
//   fix_marked          it is marked so
//   fix_undoing         a change is about to be put back
//   fix_restored        it is put back, and not marked as undone
//   fix_undone          it is marked so
//   fix_journal_beside  the journal without what was undone is beside it
#pragma once

#include <atomic>

namespace gdr {

#ifdef GDR_FAULT_HOOKS
// Whether a passage found neither variable set. False again in a child of fork, which may set one.
extern std::atomic<bool> no_kill_points;
void pass_kill_point(const char* name);

inline void kill_point(const char* name) {
  if (!no_kill_points.load(std::memory_order_relaxed)) [[unlikely]]
    pass_kill_point(name);
}
#else
inline void kill_point(const char* /*name*/) {}
#endif

}  // namespace gdr
