// Doing one thing only while a word in shared memory has a value, with nothing in between: a
// process that is stopped after the look and goes on an hour later finds that it has not been done.
//
//   const While unchanged{&epoch, epoch.load()};
//   ... take a lock that others may take away from a stopped process, by changing `epoch` ...
//   if (!store_while(unchanged, tail, 7)) return kLost;  // looked and stored, or neither
//   if (system_call_while(unchanged, SYS_fsync, file) == kEnded) return kLost;
//
// Each is a restartable sequence of the kernel's (rseq(2), x86-64, registered by glibc from 2.35
// on): whoever loses the processor between the look and the deed starts at the look again. Where
// there is none the two only follow each other closely (is_restartable()). Hot, and so inline:
// restartable_sequence.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gdr {

inline constinit const std::atomic<std::uint64_t> kUnchanging{0};

struct While {
  const std::atomic<std::uint64_t>* word = &kUnchanging;  // which is for ever
  std::uint64_t value = 0;

  bool holds() const { return word->load(std::memory_order_acquire) == value; }
};

// False: nothing was stored, since the word has another value. What was stored before is visible
// before it (release).
template <typename T>  // of 4 or 8 bytes
bool store_while(const While& condition, std::atomic<T>& place, std::type_identity_t<T> value);

// Both, or neither: the second is the deed, and whoever sees it sees the first. The first alone may
// be seen for a moment.
template <typename First, typename T>
bool store_two_while(const While& condition, std::atomic<First>& first,
                     std::type_identity_t<First> first_value, std::atomic<T>& second,
                     std::type_identity_t<T> second_value);

// A copy below takes whole sixteens: as many bytes as it needs for so many.
constexpr std::size_t in_sixteens(std::size_t bytes) { return (bytes + 15) & ~std::size_t{15}; }

// `bytes`: a multiple of 16, not 0. False: the word has another value, and some bytes may be
// missing.
bool copy_while(const While& condition, void* to, const void* from, std::size_t bytes);
// And then stored that it is there.
bool copy_and_store_while(const While& condition, void* to, const void* from, std::size_t bytes,
                          std::atomic<std::uint32_t>& place, std::uint32_t value);
struct Copied {
  void* to;
  const void* from;
  std::size_t bytes;
};
// 64 bytes in registers. Where they come from fields that have just been stored, copying them from
// there would wait for all stores before, those to memory of another processor included.
using Sixteen = std::uint64_t __attribute__((vector_size(16)));
struct SixtyFour {
  Sixteen part[4];
};
// The second to `to`. `first` may have no bytes.
bool copy_both_and_store_while(const While& condition, const Copied& first, void* to,
                               const SixtyFour& second, std::atomic<std::uint32_t>& place,
                               std::uint32_t value);
// The line of `place` comes to this processor, to be stored to soon.
inline void prefetch_to_store(const void* place) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(place)));
#else
  __builtin_prefetch(place, 1);
#endif
}

// The processor that this thread runs on, if sequences are there to say so; else a number of none.
std::uint32_t processor_now();
// Adds to a word that only threads on that processor add to, in any process: without a locked
// instruction, since nothing comes in between. False: this thread is on another one by now, or
// there are no sequences; nothing was added.
bool add_on(std::uint32_t processor, std::atomic<std::uint64_t>& word, std::uint64_t count);

// The result of the system call, or -errno if it failed; kEnded if it was not made.
constexpr long kEnded = -100'000;
long system_call_while(const While& condition, long number, long first, long second = 0,
                       long third = 0, long fourth = 0, long fifth = 0, long sixth = 0);

// Whether look and deed are one in this process.
bool is_restartable();

}  // namespace gdr

#include "base/restartable_sequence.h"
