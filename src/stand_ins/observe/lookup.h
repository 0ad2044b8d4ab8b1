// Names looked up at run time: the C library's dlsym, and what the program gets in its place.
#pragma once

#include <dlfcn.h>

namespace gdr::observe {

using Lookup = void*(void* handle, const char* name);

// The next dlsym behind this library: the C library's, or another one's that is preloaded, too.
Lookup& next_dlsym();

// Answers a lookup of the program: next_dlsym(), except for the observed functions.
Lookup& lookup_for(void* handle, const char* name);

// The driver's function that a call of the observed one is passed on to, as the linker would have
// bound it without us; null where there is none.
void* behind_us(const char* name);

// A function of the driver that this process has; null without one.
void* driver_function(const char* name);

}  // namespace gdr::observe
