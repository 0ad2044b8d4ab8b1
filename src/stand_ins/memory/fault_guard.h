// Loads and stores in memory that the program may have unmapped although it is registered. A NIC
// goes on with the pages that it has pinned; here the signal of such an access becomes an answer.
//
//   catch_faults();   // once, before the first
//   if (!copy_if_there(to, from, bytes)) return EFAULT;
//   if (!without_fault([&] { checksum.add(bytes); })) return EFAULT;
//
// catch_faults() puts a handler for SIGSEGV and SIGBUS before the program's own, which gets every
// other such signal as if this one were not there, and first of all those of pages whose rights it
// may have taken away to notice accesses (SEGV_ACCERR). A program that puts another handler in its
// place later has these signals again, also for accesses of this kind.
//
// While nothing is missing, copy_if_there() costs what memcpy does, and without_fault() some 15 ns.
// Any thread. A fault in a signal handler that has interrupted the access of a without_fault()
// counts as one of the access.
#pragma once

#include <atomic>
#include <csetjmp>
#include <cstddef>

namespace gdr::memory {

// Any number of times, from any thread. Cold.
void catch_faults();

namespace fault_guard {

// This thread goes on there after a fault; null: nowhere. It lies in the part of thread-local
// memory that is there without an allocation, since a signal handler reads it.
extern constinit thread_local sigjmp_buf* landing [[gnu::tls_model("initial-exec")]];

}  // namespace fault_guard

// False: some of what it touches is not there, and it stopped half-way. So `access` only copies or
// reads bytes: it takes no lock, has nothing to destroy, and guards nothing itself.
template <typename Access>
[[gnu::noinline]] bool without_fault(const Access& access) {
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) return false;  // NOLINT(cert-err52-cpp): out of a fault
  fault_guard::landing = &here;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  access();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  fault_guard::landing = nullptr;
  return true;
}

// False: some of it is not there, and some may have been copied. As memcpy; the last bytes last.
bool copy_if_there(void* to, const void* from, std::size_t bytes);

// Whether every page of the bytes can be read now.
bool is_there(const void* bytes, std::size_t length);

}  // namespace gdr::memory
