#include "fabric/rendezvous/pmix_library.h"

#include <dlfcn.h>

namespace gdr::fabric {
namespace {

// PMIx 2 to 5, the newest at the end of 2026.
constexpr const char* kName = "libpmix.so.2";
constexpr const char* kPackages = " (Debian: libpmix2, Fedora: pmix)";

template <typename Function>
bool resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

Result<PmixLibrary> open_library() {
  void* handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error{ENOENT, std::string("there is no ") + kName + kPackages};
  PmixLibrary library;
  std::string missing;
#define GDR_RESOLVE(member) \
  if (!resolve(handle, "PMIx_" #member, library.member)) missing = "PMIx_" #member;
  GDR_RESOLVE(Init)
  GDR_RESOLVE(Finalize)
  GDR_RESOLVE(Put)
  GDR_RESOLVE(Commit)
  GDR_RESOLVE(Get)
  GDR_RESOLVE(Get_nb)
  GDR_RESOLVE(Get_version)
  GDR_RESOLVE(Error_string)
#undef GDR_RESOLVE
  if (missing.empty()) return library;
  return Error{ENOENT, std::string(kName) + " has no " + missing + kPackages};
}

}  // namespace

Result<const PmixLibrary*> PmixLibrary::load() {
  static const Result<PmixLibrary> library = open_library();
  if (!library) return library.error();
  return &*library;
}

std::string PmixLibrary::version() const {
  // "OpenPMIx 4.2.2rc2, repo rev: v4.2.2rc2, Nov 22, 2022"
  std::string text = Get_version();
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string::npos) return text;
  return text.substr(first, text.find_first_not_of("0123456789.", first) - first);
}

}  // namespace gdr::fabric
