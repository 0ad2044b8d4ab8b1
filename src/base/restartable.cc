#include "base/restartable.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gdr {
namespace {

// The kernel's area of a thread, as glibc registers it (linux/rseq.h; older headers lack it).
struct Area {
  std::uint32_t cpu_id_start;
  std::uint32_t cpu_id;  // as a signed number negative: not registered
  std::uint64_t sequence;
};

// How far from the thread pointer it is; 0: there is none. By name, so that the library still loads
// where glibc is older.
std::ptrdiff_t find_offset() {
  const auto* size = static_cast<const unsigned*>(dlsym(RTLD_DEFAULT, "__rseq_size"));
  const auto* offset = static_cast<const std::ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
  return size != nullptr && offset != nullptr && *size != 0 ? *offset : 0;
}

const std::ptrdiff_t kOffset = find_offset();

constexpr long kInterrupted = kEnded - 1;

#ifdef __x86_64__

Area* area() {
  if (kOffset == 0) return nullptr;
  char* thread = nullptr;
  asm("movq %%fs:0, %0" : "=r"(thread));
  auto* found = reinterpret_cast<Area*>(thread + kOffset);
  return static_cast<std::int32_t>(found->cpu_id) >= 0 ? found : nullptr;
}

// A sequence runs from 1 to 2, and its last instruction is the deed. When its thread loses the
// processor in between, the kernel lets it go on at 4, which the signature has to precede. 5: the
// word has another value. The area's pointer is cleared, since the library may be unmapped.
#define GDR_SEQUENCE_BEGIN           \
  ".pushsection __rseq_cs, \"aw\"\n" \
  ".balign 32\n"                     \
  "3: .long 0, 0\n"                  \
  ".quad 1f, 2f - 1f, 4f\n"          \
  ".popsection\n"                    \
  "leaq 3b(%%rip), %%rcx\n"          \
  "movq %%rcx, %[sequence]\n"        \
  "1: cmpq %[value], %[word]\n"      \
  "jne 5f\n"
#define GDR_SEQUENCE_END                     \
  "2: movq $0, %[sequence]\n"                \
  ".pushsection .text.gdr_restart, \"ax\"\n" \
  ".byte 0x0f, 0xb9, 0x3d\n"                 \
  ".long 0x53053053\n"                       \
  "4: movq $-100001, %[result]\n"            \
  "jmp 2b\n"                                 \
  "5: movq $-100000, %[result]\n"            \
  "jmp 2b\n"                                 \
  ".popsection\n"
static_assert(kEnded == -100'000 && kInterrupted == -100'001);

template <typename Word>
long try_store(Area& area, const While& condition, std::atomic<Word>& place, Word value) {
  long result = 0;
  if constexpr (sizeof(Word) == 8) {
    asm volatile(GDR_SEQUENCE_BEGIN "movq %[stored], %[place]\n" GDR_SEQUENCE_END
                 : [result] "+&r"(result), [sequence] "=m"(area.sequence), [place] "=m"(place)
                 : [word] "m"(*condition.word), [value] "r"(condition.value), [stored] "r"(value)
                 : "rcx", "memory", "cc");
  } else {
    asm volatile(GDR_SEQUENCE_BEGIN "movl %[stored], %[place]\n" GDR_SEQUENCE_END
                 : [result] "+&r"(result), [sequence] "=m"(area.sequence), [place] "=m"(place)
                 : [word] "m"(*condition.word), [value] "r"(condition.value), [stored] "r"(value)
                 : "rcx", "memory", "cc");
  }
  return result;
}

template <typename Word>
long try_store_two(Area& area, const While& condition, std::atomic<std::uint32_t>& first,
                   std::uint32_t first_value, std::atomic<Word>& second, Word second_value) {
  long result = 0;
  if constexpr (sizeof(Word) == 8) {
    asm volatile(GDR_SEQUENCE_BEGIN
                 "movl %[first_value], %[first]\n"
                 "movq %[second_value], %[second]\n" GDR_SEQUENCE_END
                 : [result] "+&r"(result), [sequence] "=m"(area.sequence), [first] "=m"(first),
                   [second] "=m"(second)
                 : [word] "m"(*condition.word), [value] "r"(condition.value),
                   [first_value] "r"(first_value), [second_value] "r"(second_value)
                 : "rcx", "memory", "cc");
  } else {
    asm volatile(GDR_SEQUENCE_BEGIN
                 "movl %[first_value], %[first]\n"
                 "movl %[second_value], %[second]\n" GDR_SEQUENCE_END
                 : [result] "+&r"(result), [sequence] "=m"(area.sequence), [first] "=m"(first),
                   [second] "=m"(second)
                 : [word] "m"(*condition.word), [value] "r"(condition.value),
                   [first_value] "r"(first_value), [second_value] "r"(second_value)
                 : "rcx", "memory", "cc");
  }
  return result;
}

#define GDR_COPY                              \
  "6: movups -16(%[from], %[left]), %%xmm0\n" \
  "subq $16, %[left]\n"                       \
  "movups %%xmm0, (%[to], %[left])\n"         \
  "jnz 6b\n"

long try_copy(Area& area, const While& condition, void* to, const void* from, std::size_t bytes) {
  long result = 0;
  asm volatile(
      GDR_SEQUENCE_BEGIN GDR_COPY GDR_SEQUENCE_END
      : [result] "+&r"(result), [sequence] "=m"(area.sequence), [left] "+&r"(bytes)
      : [word] "m"(*condition.word), [value] "r"(condition.value), [to] "r"(to), [from] "r"(from)
      : "rcx", "xmm0", "memory", "cc");
  return result;
}

long try_copy_and_store(Area& area, const While& condition, void* to, const void* from,
                        std::size_t bytes, std::atomic<std::uint32_t>& place,
                        std::uint32_t stored) {
  long result = 0;
  asm volatile(GDR_SEQUENCE_BEGIN GDR_COPY "movl %[stored], %[place]\n" GDR_SEQUENCE_END
               : [result] "+&r"(result), [sequence] "=m"(area.sequence), [left] "+&r"(bytes),
                 [place] "=m"(place)
               : [word] "m"(*condition.word), [value] "r"(condition.value), [to] "r"(to),
                 [from] "r"(from), [stored] "r"(stored)
               : "rcx", "xmm0", "memory", "cc");
  return result;
}

long try_system_call(Area& area, const While& condition, long number, const long (&arguments)[6]) {
  long result = number;
  register long fourth asm("r10") = arguments[3];
  register long fifth asm("r8") = arguments[4];
  register long sixth asm("r9") = arguments[5];
  asm volatile(GDR_SEQUENCE_BEGIN "syscall\n" GDR_SEQUENCE_END
               : [result] "+&a"(result), [sequence] "=m"(area.sequence)
               : [word] "m"(*condition.word), [value] "r"(condition.value), "D"(arguments[0]),
                 "S"(arguments[1]), "d"(arguments[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory", "cc");
  return result;
}

#else

Area* area() { return nullptr; }
template <typename... Whatever>
long never() {
  return kEnded;
}
#define try_store(...) never()
#define try_store_two(...) never()
#define try_copy(...) never()
#define try_copy_and_store(...) never()
#define try_system_call(...) never()

#endif

// Again and again while the thread is interrupted in it. `attempt`: the sequence; `plain`: the deed
// where there are none.
template <typename Attempt, typename Plain>
bool carry_out(const While& condition, const Attempt& attempt, const Plain& plain) {
  if (Area* own = area(); own != nullptr) [[likely]] {
    while (true) {
      const long result = attempt(*own);
      if (result != kInterrupted) return result == 0;
    }
  }
  if (!condition.holds()) return false;
  plain();
  return true;
}

template <typename Word>
bool store(const While& condition, std::atomic<Word>& place, Word value) {
  return carry_out(
      condition, [&](Area& own) { return try_store(own, condition, place, value); },
      [&] { place.store(value, std::memory_order_release); });
}

template <typename Word>
bool store_two(const While& condition, std::atomic<std::uint32_t>& first, std::uint32_t first_value,
               std::atomic<Word>& second, Word second_value) {
  return carry_out(
      condition,
      [&](Area& own) {
        return try_store_two(own, condition, first, first_value, second, second_value);
      },
      [&] {
        first.store(first_value, std::memory_order_release);
        second.store(second_value, std::memory_order_release);
      });
}

}  // namespace

bool store_while(const While& condition, std::atomic<std::uint32_t>& place, std::uint32_t value) {
  return store(condition, place, value);
}

bool store_while(const While& condition, std::atomic<std::uint64_t>& place, std::uint64_t value) {
  return store(condition, place, value);
}

bool store_two_while(const While& condition, std::atomic<std::uint32_t>& first,
                     std::uint32_t first_value, std::atomic<std::uint32_t>& second,
                     std::uint32_t second_value) {
  return store_two(condition, first, first_value, second, second_value);
}

bool store_two_while(const While& condition, std::atomic<std::uint32_t>& first,
                     std::uint32_t first_value, std::atomic<std::uint64_t>& second,
                     std::uint64_t second_value) {
  return store_two(condition, first, first_value, second, second_value);
}

// A sequence counts down from the end: its registers are new at each attempt.
bool copy_while(const While& condition, void* to, const void* from, std::size_t bytes) {
  return carry_out(
      condition, [&](Area& own) { return try_copy(own, condition, to, from, bytes); },
      [&] { std::memcpy(to, from, bytes); });
}

bool copy_and_store_while(const While& condition, void* to, const void* from, std::size_t bytes,
                          std::atomic<std::uint32_t>& place, std::uint32_t value) {
  return carry_out(
      condition,
      [&](Area& own) { return try_copy_and_store(own, condition, to, from, bytes, place, value); },
      [&] {
        std::memcpy(to, from, bytes);
        place.store(value, std::memory_order_release);
      });
}

long system_call_while(const While& condition, long number, long first, long second, long third,
                       long fourth, long fifth, long sixth) {
  const long arguments[6] = {first, second, third, fourth, fifth, sixth};
  if (Area* own = area(); own != nullptr) [[likely]] {
    while (true) {
      const long result = try_system_call(*own, condition, number, arguments);
      if (result != kInterrupted) return result;
    }
  }
  if (!condition.holds()) return kEnded;
  const long result = syscall(number, first, second, third, fourth, fifth, sixth);
  return result < 0 ? -static_cast<long>(errno) : result;
}

bool is_restartable() { return area() != nullptr; }

}  // namespace gdr
