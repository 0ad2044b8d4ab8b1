// Copies within this process by the kernel, which gives an error where a load or store would be a
// signal: memory may have been unmapped since it was registered.
//
//   int error = copy_own({&from, 1}, {&to, 1});   // 0, or EFAULT: some of it is not there
//
// process_vm_writev on itself where that is allowed. Filters of system calls may refuse that one
// (a container's seccomp profile): then through a pipe, which nothing refuses, and where no
// descriptor is left for one, by touching every page first. Any thread; what is copied first is
// what comes first.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>

namespace gdr::memory {

// Both lists name the same number of bytes. The last cache line of the last piece comes after
// everything else, so that a program polling its tail never sees it early.
int copy_own(std::span<const iovec> from, std::span<const iovec> to);

// The same without process_vm_writev, as if that were refused.
int copy_own_by_pipe(std::span<const iovec> from, std::span<const iovec> to);

// Whether the kernel lets this process use process_vm_* at all, on itself at least.
bool can_copy_by_kernel();

// Whether a byte can be read there, without a signal if not.
bool is_readable(std::uint64_t address);

}  // namespace gdr::memory
