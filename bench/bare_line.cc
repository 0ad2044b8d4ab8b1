// bare_line [CPU CPU]
//
// Measures what the memory between two processors permits: two processes share a page and nothing
// else of this project. Half a round trip of one cache line, and a ring with one writer and one
// reader, each message 64 bytes with a line beside it that says that it is there. Medians of short
// stretches, so that a moment in which either process did not run counts for nothing.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace {

using gdr::Nanoseconds;
using gdr::now;

constexpr std::uint32_t kStretch = 1000, kStretches = 400;
constexpr std::uint32_t kMessages = kStretch * kStretches;
constexpr std::uint32_t kSlots = 512;  // receives, as the software NIC's are measured with
constexpr std::uint32_t kTold = 16;    // messages that the reader takes before it says so
constexpr std::size_t kPayload = 64;

struct alignas(64) Line {
  std::atomic<std::uint32_t> word;
};
struct alignas(64) Slot {
  std::uint64_t described[7];  // as much as a completion has
  std::atomic<std::uint32_t> number;
  alignas(64) std::byte payload[kPayload];
};
static_assert(sizeof(Slot) == 128);

struct Shared {
  Line there, back, head;
  Slot slots[kSlots];
};

void stay_on(unsigned cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) std::perror("sched_setaffinity");
}

void wait_for(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load(std::memory_order_acquire) != value) {
  }
}

// Calls `one(i)` for each message, and says how long one takes.
template <typename One>
double nanoseconds_of(const One& one) {
  std::vector<Nanoseconds> took;
  for (std::uint32_t i = 1; i <= kMessages;) {
    const Nanoseconds began = now();
    for (std::uint32_t end = i + kStretch; i < end; ++i) one(i);
    took.push_back(now() - began);
  }
  const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
  std::nth_element(took.begin(), middle, took.end());
  return static_cast<double>(*middle) / kStretch;
}

void answer_lines(Shared& shared) {
  for (std::uint32_t i = 1; i <= kMessages; ++i) {
    wait_for(shared.there.word, i);
    shared.back.word.store(i, std::memory_order_release);
  }
}

double ask_lines(Shared& shared) {
  return nanoseconds_of([&](std::uint32_t i) {
    shared.there.word.store(i, std::memory_order_release);
    wait_for(shared.back.word, i);
  });
}

void read_ring(Shared& shared) {
  std::byte into[kPayload];
  for (std::uint32_t i = 1; i <= kMessages; ++i) {
    Slot& slot = shared.slots[i % kSlots];
    wait_for(slot.number, i);
    std::memcpy(into, slot.payload, kPayload);
    asm volatile("" : : "r"(into) : "memory");  // it is read
    if (i % kTold == 0) shared.head.word.store(i, std::memory_order_release);
  }
}

double write_ring(Shared& shared) {
  std::byte from[kPayload]{};
  std::uint32_t known_head = 0;
  return nanoseconds_of([&](std::uint32_t i) {
    while (i - known_head >= kSlots) known_head = shared.head.word.load(std::memory_order_acquire);
    Slot& slot = shared.slots[i % kSlots];
    std::memcpy(slot.payload, from, kPayload);
    for (std::uint64_t& word : slot.described) word = i;
    slot.number.store(i, std::memory_order_release);
  });
}

bool read_cpu(std::string_view text, unsigned* cpu) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *cpu);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && *cpu < CPU_SETSIZE;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned cpus[2] = {1, 0};
  const bool right = argc == 1 || (argc == 3 && read_cpu(argv[1], &cpus[0]) &&
                                   read_cpu(argv[2], &cpus[1]) && cpus[0] != cpus[1]);
  if (!right) {
    std::fprintf(stderr, "usage: bare_line [CPU CPU]: two different ones, 1 and 0 if left out\n");
    return 2;
  }
  void* room =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return std::perror("mmap"), 1;
  Shared& shared = *static_cast<Shared*>(room);
  const pid_t other = fork();
  if (other < 0) return std::perror("fork"), 1;
  alarm(60);  // each for itself: neither spins on after the other's end
  stay_on(cpus[other == 0 ? 1 : 0]);
  if (other == 0) {
    answer_lines(shared);
    read_ring(shared);
    _exit(0);
  }
  std::printf("one cache line, half a round trip: %.1f ns\n", ask_lines(shared) / 2);
  const double message = write_ring(shared);
  std::printf("ring of 64 B messages: %.1f ns each, %.1f M/s\n", message, 1000 / message);
  int status = 0;
  return waitpid(other, &status, 0) == other && status == 0 ? 0 : 1;
}
