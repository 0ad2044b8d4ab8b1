// Code in which a fault is an answer: each of its functions returns false from wherever it faults.
// In assembly, so that it is known at which instructions that can be, and that nothing of the stack
// is in use there: it costs nothing to enter. x86-64; sanitizers see no assembly, and so have none.
#pragma once

#include <cstddef>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GDR_HAS_GUARDED_CODE 1
#else
#define GDR_HAS_GUARDED_CODE 0
#endif

#if GDR_HAS_GUARDED_CODE
extern "C" {
[[gnu::visibility("hidden")]] bool gdr_guarded_copy(void* to, const void* from, std::size_t bytes);
// A byte of each page from the one of `first` to the one of `last`.
[[gnu::visibility("hidden")]] bool gdr_guarded_look(const void* first, const void* last);
}
#endif

namespace gdr::memory {

// In a handler. True: the fault was in that code, which returns false once the handler has
// returned.
bool leave_guarded_code(void* context);

}  // namespace gdr::memory
