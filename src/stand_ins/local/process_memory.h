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

#include <span>

#include "base/restartable.h"

namespace gdr::local {

struct ProcessMemory {
  int pid;
  While held;  // the right to touch it
};

// Both lists name the same number of bytes; they are consumed (changed) on the way. The last cache
// line of the last remote piece is written by itself after everything before it, so that a program
// polling its tail never sees it early. `remote` must have room for one more entry behind its end.
int write_process(const ProcessMemory& process, std::span<iovec> local, std::span<iovec> remote);
int read_process(const ProcessMemory& process, std::span<iovec> local, std::span<iovec> remote);

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
