#include "counted_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace gdr::fabric {
namespace {

// In front of each block, as large as the strictest usual alignment.
struct alignas(std::max_align_t) Mark {
  std::size_t size = 0;
  bool is_counted = false;
};

thread_local bool counts = false;
std::size_t counted_now = 0, counted_most = 0;  // used by one thread

void* allocate(std::size_t size) {
  auto* const mark = static_cast<Mark*>(std::malloc(sizeof(Mark) + size));
  if (mark == nullptr) throw std::bad_alloc();
  *mark = {size, counts};
  if (counts) {
    counted_now += size;
    counted_most = std::max(counted_most, counted_now);
  }
  return mark + 1;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  Mark* const mark = static_cast<Mark*>(block) - 1;
  if (mark->is_counted) counted_now -= mark->size;
  std::free(mark);
}

}  // namespace

void CountedMemory::enter() { counts = true; }
void CountedMemory::leave() { counts = false; }
std::size_t CountedMemory::now() { return counted_now; }
std::size_t CountedMemory::most() { return counted_most; }
void CountedMemory::forget_most() { counted_most = counted_now; }

}  // namespace gdr::fabric

void* operator new(std::size_t size) { return gdr::fabric::allocate(size); }
void* operator new[](std::size_t size) { return gdr::fabric::allocate(size); }
void operator delete(void* block) noexcept { gdr::fabric::release(block); }
void operator delete[](void* block) noexcept { gdr::fabric::release(block); }
void operator delete(void* block, std::size_t) noexcept { gdr::fabric::release(block); }
void operator delete[](void* block, std::size_t) noexcept { gdr::fabric::release(block); }
