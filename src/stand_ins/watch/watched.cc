#include "watch/watched.h"

#include <dlfcn.h>

#include <cstring>

#include "watch/lookup.h"

// Their types are declared where they are defined; here only their addresses matter.
extern "C" {
#define GDR_WATCH(id, name, library, version) extern char name[];
#include "watch/watched.inc"
#undef GDR_WATCH
}

namespace gdr::watch {
namespace {

struct Name {
  const char* name;
  const char* library;
  const char* version;
};
constexpr Name kNames[kWatchedCount] = {
#define GDR_WATCH(id, name, library, version) {#name, library, version},
#include "watch/watched.inc"
#undef GDR_WATCH
};

constinit std::atomic<void*> known_functions[kWatchedCount]{};

// Keeps the library loaded even if the program closes it. False on failure.
bool stays_loaded(const Dl_info& where) {
  if (where.dli_fname == nullptr) return false;
  const bool stays = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
  if (!stays) dlerror();
  return stays;
}

// A program may have a function or variable of such a name that has nothing to do with the library.
// "libcuda.so.1" is also libcuda.so.580.95, and what a name ends with differs.
bool is_of_library(Watched one, void* address, Dl_info* where) {
  if (dladdr(address, where) == 0 || where->dli_fname == nullptr) return false;
  const char* slash = std::strrchr(where->dli_fname, '/');
  const char* file = slash != nullptr ? slash + 1 : where->dli_fname;
  const std::size_t stem = std::strlen(kNames[one].library) - 2;  // without ".1"
  return std::strncmp(file, kNames[one].library, stem) == 0;
}

}  // namespace

Watched which(const char* name) {
  const bool may_be = (name[0] == 'i' && name[1] == 'b' && name[2] == 'v') ||
                      (name[0] == 'c' && name[1] == 'u' && (name[2] == 'M' || name[2] == 'G'));
  if (!may_be) return kWatchedCount;
  for (int one = 0; one < kWatchedCount; ++one) {
    if (std::strcmp(name, kNames[one].name) == 0) return static_cast<Watched>(one);
  }
  return kWatchedCount;
}

void* wrapper(Watched one) {
  switch (one) {
#define GDR_WATCH(id, name, library, version) \
  case id:                                    \
    return name;
#include "watch/watched.inc"
#undef GDR_WATCH
    case kWatchedCount:
      break;
  }
  return nullptr;
}

void* behind(Watched one) {
  void* found = known_functions[one].load(std::memory_order_acquire);
  if (found == nullptr) {
    found = behind_us(kNames[one].library, kNames[one].name, kNames[one].version);
    Dl_info where{};
    if (found != nullptr && dladdr(found, &where) != 0 && stays_loaded(where)) {
      known_functions[one].store(found, std::memory_order_release);
    }
  }
  return found;
}

void* in_place_of(Watched one, void* found) {
  Dl_info where{}, known_where{};
  if (found == nullptr || one == kWatchedCount) return found;
  if (!is_of_library(one, found, &where) || !stays_loaded(where)) return found;
  void* known = nullptr;
  // A driver exports a function under one address, and may hand it out under another.
  if (known_functions[one].compare_exchange_strong(known, found) || known == found ||
      (dladdr(known, &known_where) != 0 && known_where.dli_fbase == where.dli_fbase)) {
    return wrapper(one);
  }
  return found;
}

}  // namespace gdr::watch
