// dlsym and dlvsym: the program's, in place of the C library's.
//
// The loader takes the caller's place from the return address (RTLD_NEXT, RTLD_DEFAULT), so what is
// not for us must be a jump and no call: this file is always compiled with sibling calls, and the
// others, whose calls must be seen as this library's, never.
#include "watch/lookup.h"

#define GDR_WATCHED extern "C" __attribute__((visibility("default")))

GDR_WATCHED void* dlsym(void* handle, const char* name) noexcept {
  return gdr::watch::lookup_for(handle, name, __builtin_return_address(0))(handle, name);
}

GDR_WATCHED void* dlvsym(void* handle, const char* name, const char* version) noexcept {
  return gdr::watch::versioned_lookup_for(handle, name, __builtin_return_address(0))(handle, name,
                                                                                     version);
}
