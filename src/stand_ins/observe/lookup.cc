#include "observe/lookup.h"

#include <atomic>

#include "base/c_library_version.h"
#include "observe/driver_calls.h"

namespace gdr::observe {
namespace {

void* find_nothing(void*, const char*) { return nullptr; }

// Asked for by version, the C library's own is found, which then tells who is next.
Lookup* find_next() {
  auto* own = reinterpret_cast<Lookup*>(dlvsym(RTLD_NEXT, "dlsym", kOldestCLibraryVersion));
  if (own == nullptr) return find_nothing;
  auto* next = reinterpret_cast<Lookup*>(own(RTLD_NEXT, "dlsym"));
  return next != nullptr ? next : own;
}

// Brings no driver into a process that has none. The reference is kept, as the driver is.
void* driver() {
  static std::atomic<void*> found{nullptr};
  void* library = found.load(std::memory_order_acquire);
  if (library != nullptr) return library;
  library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) dlerror();
  found.store(library, std::memory_order_release);
  return library;
}

void* find_observed(void* handle, const char* name) {
  void* found = next_dlsym()(handle, name);
  if (found == nullptr || found != wrapper_of(name)) return in_place_of(name, found);
  // A global lookup met this library first. Without us, would it have found the driver's?
  if (void* next = next_dlsym()(RTLD_NEXT, name)) return in_place_of(name, next);
  if (handle == RTLD_DEFAULT && driver_function(name) != nullptr) {
    dlerror();
    return found;
  }
  return next_dlsym()(RTLD_NEXT, name);  // for its words in dlerror()
}

}  // namespace

Lookup& next_dlsym() {
  static std::atomic<Lookup*> found{nullptr};
  Lookup* next = found.load(std::memory_order_acquire);
  if (next == nullptr) {
    next = find_next();
    found.store(next, std::memory_order_release);
  }
  return *next;
}

Lookup& lookup_for(void* handle, const char* name) {
  // RTLD_NEXT is asked by who stands in front of the driver, and must find who stands behind him.
  if (handle == RTLD_NEXT || wrapper_of(name) == nullptr) return next_dlsym();
  return find_observed;
}

void* driver_function(const char* name) {
  void* library = driver();
  void* found = library != nullptr ? next_dlsym()(library, name) : nullptr;
  if (found == nullptr) dlerror();
  return found;
}

void* behind_us(const char* name) {
  if (void* found = next_dlsym()(RTLD_NEXT, name)) return found;
  dlerror();
  return driver_function(name);
}

}  // namespace gdr::observe
