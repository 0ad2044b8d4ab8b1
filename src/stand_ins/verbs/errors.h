// From C++ errors to the two conventions of verbs: a null pointer with errno, or an errno value.
//
//   GDR_EXPORT ibv_pd* ibv_alloc_pd(ibv_context* context) {
//     return or_null([&]() -> ibv_pd* { return &(new Pd{...})->base; });
//   }
//
// Nothing may be thrown across the C ABI; what can be, in a library that throws nothing itself, is
// bad_alloc from a container. Cold paths only.
#pragma once

#include <cerrno>
#include <cstdint>
#include <new>
#include <type_traits>

#include "base/raw.h"
#include "base/result.h"

namespace gdr::verbs {

// return fail(EINVAL); in a function whose failure is a null pointer.
inline std::nullptr_t fail(int code) {
  errno = code;
  return nullptr;
}
inline std::nullptr_t fail(const Error& error) { return fail(error.code); }

// For verbs whose failure is -1 and errno.
inline int minus_one(int code) {
  errno = code;
  return -1;
}

template <typename Function>
auto or_null(Function&& function) -> std::invoke_result_t<Function> {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return fail(ENOMEM);
  } catch (...) {
    return fail(EIO);
  }
}

// 0, or an errno value, which errno has then, too: programs print that one, because libibverbs
// leaves there what the kernel answered.
template <typename Function>
int or_errno(Function&& function) {
  int code = 0;
  try {
    code = function();
  } catch (const std::bad_alloc&) {
    code = ENOMEM;
  } catch (...) {
    code = EIO;
  }
  if (code > 0) errno = code;
  return code;
}

}  // namespace gdr::verbs
