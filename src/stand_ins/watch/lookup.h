// Names looked up at run time: the C library's dlsym and dlvsym, and what the program gets in their
// place. As in src/stand_ins/observe, which may be preloaded beside this library: each passes on to
// the next.
#pragma once

#include <dlfcn.h>

namespace gdr::watch {

using Lookup = void*(void* handle, const char* name);
using VersionedLookup = void*(void* handle, const char* name, const char* version);

// The next ones behind this library.
Lookup& next_dlsym();
VersionedLookup& next_dlvsym();

// Answers a lookup of the program: the next function, except for the watched names. `caller` is an
// address in who asks: what the software NIC copies is its data path, not the program's staging.
Lookup& lookup_for(void* handle, const char* name, const void* caller);
VersionedLookup& versioned_lookup_for(void* handle, const char* name, const void* caller);

// A function of a library that this process has loaded, wherever; null without one. Loads nothing.
void* loaded_function(const char* library, const char* name, const char* version);

// The function that a call of a watched one is passed on to, as the linker would have bound it
// without us; null where there is none.
void* behind_us(const char* library, const char* name, const char* version);

}  // namespace gdr::watch
