// What the files of watched functions share.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#define GDR_WATCHED extern "C" __attribute__((visibility("default")))

// <infiniband/verbs.h> turns these names into macros that call the library.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace gdr::watch {

// The number of the device's record; ledger::kNone: its opening was not seen.
std::uint32_t device_of(const ibv_context* object);

// A watched call, for as long as it lives: what the library calls meanwhile is not the program's.
class Nested {
 public:
  Nested();
  ~Nested();
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  static bool is_outermost();
};

}  // namespace gdr::watch
