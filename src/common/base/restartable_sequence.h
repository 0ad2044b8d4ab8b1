// Parts of restartable.h; include that instead.
//
// A sequence runs from 1 to 2, and its last instruction takes effect. If its thread loses the CPU
// in between, the kernel resumes it at 4, which the signature must precede, and it starts again. 5:
// the word has another value. Afterwards the thread's area still points to the sequence, because no
// library that contains one is ever unmapped (it has threads).
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gdr {
namespace restartable {

// From the thread pointer to where the kernel looks for the sequence that a thread is in (struct
// rseq of linux/rseq.h, as glibc registers it); 0: there is none.
extern const std::ptrdiff_t kSequence;

constexpr long kInterrupted = kEnded - 1;

// The thread sanitizer sees nothing of what assembly stores, nor that it comes before what a reader
// does next: there look and deed only follow each other.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define GDR_RESTARTABLE_SEQUENCES
#endif

#ifdef GDR_RESTARTABLE_SEQUENCES

#define GDR_INLINE [[gnu::always_inline]] inline
// "?": in the section group of the function, which may be one of many alike.
#define GDR_SEQUENCE_OPEN             \
  ".pushsection __rseq_cs, \"aw?\"\n" \
  ".balign 32\n"                      \
  "3: .long 0, 0\n"                   \
  ".quad 1f, 2f - 1f, 4f\n"           \
  ".popsection\n"                     \
  "leaq 3b(%%rip), %%rcx\n"           \
  "movq %%rcx, %%fs:(%[sequence])\n"  \
  "1: "
#define GDR_SEQUENCE_BEGIN   \
  GDR_SEQUENCE_OPEN          \
  "cmpq %[value], %[word]\n" \
  "jne 5f\n"
#define GDR_SEQUENCE_END                      \
  "2:\n"                                      \
  ".pushsection .text.gdr_restart, \"ax?\"\n" \
  ".byte 0x0f, 0xb9, 0x3d\n"                  \
  ".long 0x53053053\n"                        \
  "4: movq $-100001, %[result]\n"             \
  "jmp 2b\n"                                  \
  "5: movq $-100000, %[result]\n"             \
  "jmp 2b\n"                                  \
  ".popsection\n"
static_assert(kEnded == -100'000 && kInterrupted == -100'001);
#define GDR_CONDITION \
  [word] "m"(*condition.word), [value] "r"(condition.value), [sequence] "r"(kSequence)

// movl or movq, by the operands.
template <typename T>
GDR_INLINE long store(const While& condition, std::atomic<T>& place, T value) {
  long result = 0;
  asm volatile(GDR_SEQUENCE_BEGIN "mov %[stored], %[place]\n" GDR_SEQUENCE_END
               : [result] "+&r"(result), [place] "=m"(place)
               : GDR_CONDITION, [stored] "r"(value)
               : "rcx", "memory", "cc");
  return result;
}

template <typename First, typename T>
GDR_INLINE long store_two(const While& condition, std::atomic<First>& first, First first_value,
                          std::atomic<T>& second, T second_value) {
  long result = 0;
  asm volatile(GDR_SEQUENCE_BEGIN
               "mov %[first_value], %[first]\n"
               "mov %[second_value], %[second]\n" GDR_SEQUENCE_END
               : [result] "+&r"(result), [first] "=m"(first), [second] "=m"(second)
               : GDR_CONDITION, [first_value] "r"(first_value), [second_value] "r"(second_value)
               : "rcx", "memory", "cc");
  return result;
}

// Four bytes before where the kernel looks for the sequence it keeps the processor's number.
GDR_INLINE long add(std::uint32_t processor, std::atomic<std::uint64_t>& word,
                    std::uint64_t count) {
  long result = 0;
  asm volatile(GDR_SEQUENCE_OPEN
               "cmpl %[processor], %%fs:-4(%[sequence])\n"
               "jne 5f\n"
               "addq %[count], %[word]\n" GDR_SEQUENCE_END
               : [result] "+&r"(result), [word] "+m"(word)
               : [processor] "r"(processor), [count] "r"(count), [sequence] "r"(kSequence)
               : "rcx", "memory", "cc");
  return result;
}
GDR_INLINE std::uint32_t processor() {
  std::uint32_t number = 0;
  asm volatile("movl %%fs:-4(%[sequence]), %[number]"
               : [number] "=r"(number)
               : [sequence] "r"(kSequence));
  return number;
}

#define GDR_COPY                              \
  "6: movups -16(%[from], %[left]), %%xmm0\n" \
  "subq $16, %[left]\n"                       \
  "movups %%xmm0, (%[to], %[left])\n"         \
  "jnz 6b\n"

GDR_INLINE long copy(const While& condition, void* to, const void* from, std::size_t bytes) {
  long result = 0;
  asm volatile(GDR_SEQUENCE_BEGIN GDR_COPY GDR_SEQUENCE_END
               : [result] "+&r"(result), [left] "+&r"(bytes)
               : GDR_CONDITION, [to] "r"(to), [from] "r"(from)
               : "rcx", "xmm0", "memory", "cc");
  return result;
}

GDR_INLINE long copy_and_store(const While& condition, void* to, const void* from,
                               std::size_t bytes, std::atomic<std::uint32_t>& place,
                               std::uint32_t stored) {
  long result = 0;
  asm volatile(GDR_SEQUENCE_BEGIN GDR_COPY "movl %[stored], %[place]\n" GDR_SEQUENCE_END
               : [result] "+&r"(result), [left] "+&r"(bytes), [place] "=m"(place)
               : GDR_CONDITION, [to] "r"(to), [from] "r"(from), [stored] "r"(stored)
               : "rcx", "xmm0", "memory", "cc");
  return result;
}

GDR_INLINE long copy_both_and_store(const While& condition, const Copied& before, void* to,
                                    const SixtyFour& copied, std::atomic<std::uint32_t>& place,
                                    std::uint32_t stored) {
  long result = 0;
  std::size_t left_before = before.bytes;
  asm volatile(
      GDR_SEQUENCE_BEGIN
      "testq %[left_before], %[left_before]\n"
      "jz 8f\n"
      "7: movups -16(%[from_before], %[left_before]), %%xmm0\n"
      "subq $16, %[left_before]\n"
      "movups %%xmm0, (%[to_before], %[left_before])\n"
      "jnz 7b\n"
      "8: movups %[part0], (%[to])\n"
      "movups %[part1], 16(%[to])\n"
      "movups %[part2], 32(%[to])\n"
      "movups %[part3], 48(%[to])\n"
      "movl %[stored], %[place]\n" GDR_SEQUENCE_END
      : [result] "+&r"(result), [left_before] "+&r"(left_before), [place] "=m"(place)
      : GDR_CONDITION, [to] "r"(to), [part0] "x"(copied.part[0]), [part1] "x"(copied.part[1]),
        [part2] "x"(copied.part[2]), [part3] "x"(copied.part[3]), [to_before] "r"(before.to),
        [from_before] "r"(before.from), [stored] "r"(stored)
      : "rcx", "xmm0", "memory", "cc");
  return result;
}

// The last three by way of memory: a variable in a register of its own is lost where a sanitizer
// calls something of its own before the assembly.
GDR_INLINE long system_call(const While& condition, long number, long first, long second,
                            long third, long fourth, long fifth, long sixth) {
  long result = number;
  asm volatile(
      "movq %[fourth], %%r10\n"
      "movq %[fifth], %%r8\n"
      "movq %[sixth], %%r9\n" GDR_SEQUENCE_BEGIN "syscall\n" GDR_SEQUENCE_END
      : [result] "+&a"(result)
      : GDR_CONDITION, "D"(first), "S"(second),
        "d"(third), [fourth] "m"(fourth), [fifth] "m"(fifth), [sixth] "m"(sixth)
      : "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
  return result;
}

#undef GDR_COPY
#undef GDR_CONDITION
#undef GDR_SEQUENCE_BEGIN
#undef GDR_SEQUENCE_OPEN
#undef GDR_SEQUENCE_END
#undef GDR_INLINE

#else

// Never reached: kSequence is 0.
template <typename... Whatever>
long store(const Whatever&...) {
  return kEnded;
}
template <typename... Whatever>
long store_two(const Whatever&...) {
  return kEnded;
}
template <typename... Whatever>
long copy(const Whatever&...) {
  return kEnded;
}
template <typename... Whatever>
long copy_and_store(const Whatever&...) {
  return kEnded;
}
template <typename... Whatever>
long copy_both_and_store(const Whatever&...) {
  return kEnded;
}
template <typename... Whatever>
long system_call(const Whatever&...) {
  return kEnded;
}
template <typename... Whatever>
long add(const Whatever&...) {
  return kEnded;
}
inline std::uint32_t processor() { return ~std::uint32_t{0}; }

#endif

// Again and again while the thread is interrupted in it. `attempt`: the sequence; `plain`: the deed
// where there are none.
template <typename Attempt, typename Plain>
[[gnu::always_inline]] inline bool carry_out(const While& condition, const Attempt& attempt,
                                             const Plain& plain) {
  if (kSequence != 0) [[likely]] {
    long result = attempt();
    while (result == kInterrupted) [[unlikely]] result = attempt();
    return result == 0;
  }
  if (!condition.holds()) return false;
  plain();
  return true;
}

}  // namespace restartable

template <typename T>
bool store_while(const While& condition, std::atomic<T>& place, std::type_identity_t<T> value) {
  return restartable::carry_out(
      condition, [&] { return restartable::store(condition, place, value); },
      [&] { place.store(value, std::memory_order_release); });
}

template <typename First, typename T>
bool store_two_while(const While& condition, std::atomic<First>& first,
                     std::type_identity_t<First> first_value, std::atomic<T>& second,
                     std::type_identity_t<T> second_value) {
  return restartable::carry_out(
      condition,
      [&] { return restartable::store_two(condition, first, first_value, second, second_value); },
      [&] {
        first.store(first_value, std::memory_order_release);
        second.store(second_value, std::memory_order_release);
      });
}

inline bool copy_while(const While& condition, void* to, const void* from, std::size_t bytes) {
  return restartable::carry_out(
      condition, [&] { return restartable::copy(condition, to, from, bytes); },
      [&] { std::memcpy(to, from, bytes); });
}

inline bool copy_and_store_while(const While& condition, void* to, const void* from,
                                 std::size_t bytes, std::atomic<std::uint32_t>& place,
                                 std::uint32_t value) {
  return restartable::carry_out(
      condition,
      [&] { return restartable::copy_and_store(condition, to, from, bytes, place, value); },
      [&] {
        std::memcpy(to, from, bytes);
        place.store(value, std::memory_order_release);
      });
}

[[gnu::always_inline]] inline bool copy_both_and_store_while(const While& condition,
                                                             const Copied& first, void* to,
                                                             const SixtyFour& second,
                                                             std::atomic<std::uint32_t>& place,
                                                             std::uint32_t value) {
  return restartable::carry_out(
      condition,
      [&] [[gnu::always_inline]] {
        return restartable::copy_both_and_store(condition, first, to, second, place, value);
      },
      [&] {
        if (first.bytes != 0) std::memcpy(first.to, first.from, first.bytes);
        std::memcpy(to, &second, sizeof second);
        place.store(value, std::memory_order_release);
      });
}

inline std::uint32_t processor_now() {
  return restartable::kSequence != 0 ? restartable::processor() : ~std::uint32_t{0};
}

inline bool add_on(std::uint32_t processor, std::atomic<std::uint64_t>& word, std::uint64_t count) {
  if (restartable::kSequence == 0) return false;
  long result = restartable::add(processor, word, count);
  while (result == restartable::kInterrupted)
    [[unlikely]] result = restartable::add(processor, word, count);
  return result == 0;
}

inline long system_call_while(const While& condition, long number, long first, long second,
                              long third, long fourth, long fifth, long sixth) {
  if (restartable::kSequence != 0) [[likely]] {
    while (true) {
      const long result =
          restartable::system_call(condition, number, first, second, third, fourth, fifth, sixth);
      if (result != restartable::kInterrupted) [[likely]]
        return result;
    }
  }
  if (!condition.holds()) return kEnded;
  const long result = syscall(number, first, second, third, fourth, fifth, sixth);
  return result < 0 ? -static_cast<long>(errno) : result;
}

inline bool is_restartable() { return restartable::kSequence != 0; }

}  // namespace gdr
