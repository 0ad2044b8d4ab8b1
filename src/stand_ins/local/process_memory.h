// Copies between this process's memory and another's: process_vm_writev and process_vm_readv with
// their limits (2 GiB a call, short counts) handled.
//
//   int error = write_process({pid, held}, local_pieces, remote_pieces);   // 0 or an errno value
//
// EPERM, EACCES, ENOSYS: the kernel refuses (ptrace scope, namespaces, a filter of system calls);
// ESRCH: no such process; EFAULT: memory is not there on one side; ECANCELED: this process was cut
// off (rnic/shared_lock.h), and no system call was made after that. Hot.
#pragma once

#include <sys/uio.h>

#include <cerrno>
#include <span>

#include "base/restartable.h"

namespace gdr::local {

struct ProcessMemory {
  int pid;
  While held;  // the right to touch it
};

// The kernel does not let this process copy: by the other one's rights (ptrace scope), or by a
// filter of system calls, which may say anything.
inline bool is_refusal(int error) { return error == EPERM || error == EACCES || error == ENOSYS; }

// Both lists name the same number of bytes; they are consumed (changed) on the way. The last cache
// line of the last remote piece is written by itself after everything before it, so that a program
// polling its tail never sees it early. `local` must have room for one more entry behind its end.
int write_process(const ProcessMemory& process, std::span<iovec> local, std::span<iovec> remote);
int read_process(const ProcessMemory& process, std::span<iovec> local, std::span<iovec> remote);

// One system call, which takes the pieces in the order of the lists: how many bytes it has moved;
// -errno where it moved none; kEnded.
long write_in_one_call(const ProcessMemory& process, std::span<const iovec> local,
                       std::span<const iovec> remote);
long read_in_one_call(const ProcessMemory& process, std::span<const iovec> local,
                      std::span<const iovec> remote);

// Splits `local` before what goes to the last cache line of `remote`, the last of its places; where
// there is something before that. Returns the list with, mostly, one piece more: it must have room
// for that. The kernel copies the pieces of this process one after the other, and finds each page
// of the other one only once: a split remote piece would cost another 0.1 to 0.3 µs.
std::span<iovec> split_tail(std::span<iovec> local, const iovec& remote);

// Much less than a page, through the other process's /proc/PID/mem: quicker, since the right was
// asked for when it was opened. 0; ECANCELED; ESRCH: that memory is no more, whoever has the pid
// now; kNotFew: not so few, or anything else, and the functions above find out what. (No
// std::optional: its parts, stored apart and loaded as one, cost as much as the check.)
constexpr int kNotFew = -1;
int write_few(int memory_file, const While& held, std::span<const iovec> local,
              std::span<const iovec> remote);
int read_few(int memory_file, const While& held, std::span<const iovec> local,
             std::span<const iovec> remote);

// Between two lists of this process's own memory.
void copy_within(std::span<const iovec> from, std::span<const iovec> to);

}  // namespace gdr::local
