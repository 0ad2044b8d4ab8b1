// For libraries that are preloaded into programs and stand in front of functions of the C library:
// the function behind their own.
//
//   GDR_SHOWN int chdir(const char* path) noexcept {
//     GDR_NEXT(int(const char*), chdir);
//     if (next_chdir == nullptr) return not_there<int>();
//     return next_chdir(as_we_see_it(path));
//   }
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <type_traits>

#define GDR_SHOWN extern "C" __attribute__((visibility("default")))

// `next_<name>` is the next library's function of that name, or null.
#define GDR_NEXT(type, name)                       \
  static std::atomic<void*> known_##name{nullptr}; \
  auto* const next_##name = ::gdr::next_function<type>(known_##name, #name)

namespace gdr {

// Looked up once; two threads may do it at a time, and find the same.
template <typename Function>
Function* next_function(std::atomic<void*>& known, const char* name) {
  void* found = known.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = dlsym(RTLD_NEXT, name);
    known.store(found, std::memory_order_relaxed);
  }
  return reinterpret_cast<Function*>(found);
}

// The outcome of a call where the C library has no such function.
template <typename Result>
Result not_there() {
  errno = ENOSYS;
  if constexpr (std::is_pointer_v<Result>) {
    return nullptr;
  } else {
    return static_cast<Result>(-1);
  }
}

// The last argument of open(), which is there only if it may make a file.
inline mode_t mode_of(int flags, va_list list) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes ? va_arg(list, mode_t) : 0;
}

}  // namespace gdr
