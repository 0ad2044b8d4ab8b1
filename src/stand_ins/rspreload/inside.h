// Inside: while it lives, this thread is inside a function of rsockets. What that calls of the C
// library, on the program's own descriptors too, is meant for the C library.
#pragma once

namespace gdr::rspreload {

class Inside {
 public:
  Inside() { ++depth(); }
  ~Inside() { --depth(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  static bool is_here() { return depth() > 0; }

 private:
  static int& depth() {
    static thread_local int calls = 0;
    return calls;
  }
};

}  // namespace gdr::rspreload
