// Table: what belongs to an object of the program, by its address or number.
//
//   static Table<1024> contexts;
//   contexts.insert(key_of(context), value);        // false: full
//   std::uint64_t value = contexts.find(key_of(context));  // 0: not there
//
// Looked up on every posted request: without a lock, some nanoseconds. Changed seldom, under one
// lock that a child of fork() finds released (locked.h). Keys and values are not 0, keys not 1. A
// key never moves, so a reader never misses one that stays. All zero at first: it costs no memory
// until it is used.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "watch/locked.h"

namespace gdr::watch {

inline std::uint64_t key_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

template <std::size_t kSlots>
class Table {
  static_assert((kSlots & (kSlots - 1)) == 0);

 public:
  std::uint64_t find(std::uint64_t key) const {
    for (std::size_t i = 0, at = home(key); i < kSlots; ++i, at = (at + 1) % kSlots) {
      const std::uint64_t found = slots_[at].key.load(std::memory_order_acquire);
      if (found == key) return slots_[at].value.load(std::memory_order_acquire);
      if (found == kEmpty) return 0;
    }
    return 0;
  }

  // In place of what the key had. A quarter stays empty, which bounds every search.
  bool insert(std::uint64_t key, std::uint64_t value) {
    const Locked lock;
    Slot* place = nullptr;
    for (std::size_t i = 0, at = home(key); i < kSlots; ++i, at = (at + 1) % kSlots) {
      Slot& slot = slots_[at];
      const std::uint64_t found = slot.key.load(std::memory_order_relaxed);
      if (found == key) {
        slot.value.store(value, std::memory_order_release);
        return true;
      }
      if (place == nullptr && (found == kRemoved || found == kEmpty)) place = &slot;
      if (found == kEmpty) break;
    }
    if (place == nullptr || used_ >= kSlots - kSlots / 4) return false;
    ++used_;
    place->value.store(value, std::memory_order_relaxed);
    place->key.store(key, std::memory_order_release);
    return true;
  }

  // What the key had; 0: nothing.
  std::uint64_t remove(std::uint64_t key) {
    const Locked lock;
    for (std::size_t i = 0, at = home(key); i < kSlots; ++i, at = (at + 1) % kSlots) {
      const std::uint64_t found = slots_[at].key.load(std::memory_order_relaxed);
      if (found == kEmpty) return 0;
      if (found != key) continue;
      const std::uint64_t value = slots_[at].value.load(std::memory_order_relaxed);
      slots_[at].key.store(kRemoved, std::memory_order_relaxed);
      --used_;
      clear_end_of_run(at);
      return value;
    }
    return 0;
  }

 private:
  static constexpr std::uint64_t kEmpty = 0, kRemoved = 1;
  struct Slot {
    std::atomic<std::uint64_t> key, value;
  };

  static std::size_t home(std::uint64_t key) {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15) >> 32) % kSlots;
  }

  // Removed slots in front of an empty one are empty, too: no key is looked for beyond them.
  // Without this, programs that register for every transfer would fill the table with removed ones.
  void clear_end_of_run(std::size_t at) {
    if (slots_[(at + 1) % kSlots].key.load(std::memory_order_relaxed) != kEmpty) return;
    while (slots_[at].key.load(std::memory_order_relaxed) == kRemoved) {
      slots_[at].key.store(kEmpty, std::memory_order_relaxed);
      at = (at + kSlots - 1) % kSlots;
    }
  }

  std::size_t used_ = 0;
  std::array<Slot, kSlots> slots_;
};

}  // namespace gdr::watch
