// The driver's functions that are observed: cuMemGetHandleForAddressRange, and cuGetProcAddress in
// its versions, which hands the former out.
#pragma once

namespace gdr::observe {

// This library's function of that name; null for all names but those few.
void* wrapper_of(const char* name);

// The function that the program gets for an observed name: this library's, which calls `found`; or
// `found` itself if it belongs to another library, or to another driver than the observed one.
void* in_place_of(const char* name, void* found);

}  // namespace gdr::observe
