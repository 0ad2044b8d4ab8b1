// The driver's functions that are observed: cuMemGetHandleForAddressRange, and cuGetProcAddress in
// its versions, which hands the former out.
#pragma once

namespace gdr::observe {

// This library's function of that name; null for all names but those few.
void* wrapper_of(const char* name);

// What the program gets for a function of an observed name that was found for it: this library's,
// which will call `found`; or `found` itself if it is not the driver's, or another driver's than
// that which is observed already.
void* in_place_of(const char* name, void* found);

}  // namespace gdr::observe
