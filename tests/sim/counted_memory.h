// CountedMemory: what a part of a program has allocated and not freed yet. A program that links
// counted_memory.cc has its own operator new, which marks each block with whose it is.
//
//   CountedMemory::enter();
//   collector.handle_message(...);
//   CountedMemory::leave();
//   CountedMemory::most()         // bytes at the same time, also of blocks that others freed since
#pragma once

#include <cstddef>

namespace gdr::fabric {

class CountedMemory {
 public:
  // Of this thread, from now on.
  static void enter();
  static void leave();
  static std::size_t now();
  static std::size_t most();
  static void forget_most();  // most() counts from now on
};

}  // namespace gdr::fabric
