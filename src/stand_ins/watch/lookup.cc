#include "watch/lookup.h"

#include <atomic>
#include <cstring>

#include "base/c_library_version.h"
#include "watch/c_library.h"
#include "watch/watched.h"

namespace gdr::watch {
namespace {

void* find_nothing(void*, const char*) { return nullptr; }
void* find_nothing_versioned(void*, const char*, const char*) { return nullptr; }

// Asked for by version, the C library's own is found, which then tells who is next. Others that
// stand in front of it (observe) are not called for that: they look for their next ones through us,
// and so would not end.
Lookup* c_library_lookup() {
  auto* versioned = reinterpret_cast<VersionedLookup*>(dlvsym_of_c_library());
  if (versioned == nullptr) return nullptr;
  return reinterpret_cast<Lookup*>(versioned(RTLD_NEXT, "dlsym", kOldestCLibraryVersion));
}

Lookup* find_next() {
  Lookup* const own = c_library_lookup();
  if (own == nullptr) return find_nothing;
  auto* next = reinterpret_cast<Lookup*>(own(RTLD_NEXT, "dlsym"));
  return next != nullptr ? next : own;
}

VersionedLookup* find_next_versioned() {
  Lookup* const own = c_library_lookup();
  if (own == nullptr) return find_nothing_versioned;
  auto* next = reinterpret_cast<VersionedLookup*>(own(RTLD_NEXT, "dlvsym"));
  return next != nullptr ? next : reinterpret_cast<VersionedLookup*>(dlvsym_of_c_library());
}

template <typename Function>
Function& known_or(std::atomic<Function*>& known, Function* (*find)()) {
  Function* next = known.load(std::memory_order_acquire);
  if (next == nullptr) {
    next = find();
    known.store(next, std::memory_order_release);
  }
  return *next;
}

// `found` is what the lookup gave. A global one meets this library first: without us, would it have
// found the library's own?
void* resolve(void* handle, Watched one, void* found, const char* name) {
  if (found == nullptr || found != wrapper(one)) return in_place_of(one, found);
  if (void* next = next_dlsym()(RTLD_NEXT, name)) return in_place_of(one, next);
  if (handle == RTLD_DEFAULT && behind(one) != nullptr) {
    dlerror();
    return found;
  }
  return next_dlsym()(RTLD_NEXT, name);  // for its words in dlerror()
}

void* find_watched(void* handle, const char* name) {
  return resolve(handle, which(name), next_dlsym()(handle, name), name);
}

void* find_watched_version(void* handle, const char* name, const char* version) {
  return resolve(handle, which(name), next_dlvsym()(handle, name, version), name);
}

bool is_software_nic(const void* address) {
  Dl_info where{};
  return dladdr(address, &where) != 0 && where.dli_fname != nullptr &&
         std::strstr(where.dli_fname, "/gdrkit/soft-nic/") != nullptr;
}

bool passes(void* handle, const char* name, const void* caller) {
  // RTLD_NEXT is asked by who stands in front of the library, and must find who stands behind him.
  return handle == RTLD_NEXT || name == nullptr || which(name) == kWatchedCount ||
         is_software_nic(caller);
}

}  // namespace

Lookup& next_dlsym() {
  static constinit std::atomic<Lookup*> found{nullptr};
  return known_or(found, find_next);
}

VersionedLookup& next_dlvsym() {
  static constinit std::atomic<VersionedLookup*> found{nullptr};
  return known_or(found, find_next_versioned);
}

Lookup& lookup_for(void* handle, const char* name, const void* caller) {
  return passes(handle, name, caller) ? next_dlsym() : find_watched;
}

VersionedLookup& versioned_lookup_for(void* handle, const char* name, const void* caller) {
  return passes(handle, name, caller) ? next_dlvsym() : find_watched_version;
}

void* loaded_function(const char* library, const char* name, const char* version) {
  // The reference is kept, as the function is.
  void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  void* found = nullptr;
  if (handle != nullptr) {
    found = version == nullptr ? next_dlsym()(handle, name) : next_dlvsym()(handle, name, version);
  }
  if (found == nullptr) dlerror();
  return found;
}

void* behind_us(const char* library, const char* name, const char* version) {
  void* found =
      version == nullptr ? next_dlsym()(RTLD_NEXT, name) : next_dlvsym()(RTLD_NEXT, name, version);
  if (found != nullptr) return found;
  dlerror();
  return loaded_function(library, name, version);
}

}  // namespace gdr::watch
