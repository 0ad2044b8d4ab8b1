// cuGetProcAddress: entry points by name, CUDA version and default-stream flavour.
#include <dlfcn.h>

#include <string>

#include "softgpu/process.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

struct Version {
  std::string_view name;
  const char* symbol;
  int since;
};
constexpr Version kVersions[] = {
#define GDR_CU_VERSION(name, symbol, since) {#name, #symbol, since},
#include "softgpu/versions.inc"
#undef GDR_CU_VERSION
};

// This library, however it was loaded.
void* own_library() {
  static void* library = [] {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&own_library), &info) == 0)
      return static_cast<void*>(nullptr);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return library;
}

void* find_symbol(const std::string& symbol, std::uint64_t flags) {
  void* library = own_library();
  if (library == nullptr) return nullptr;
  if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) {
    for (const char* suffix : {"_ptsz", "_ptds"}) {
      if (void* found = dlsym(library, (symbol + suffix).c_str())) return found;
    }
  }
  return dlsym(library, symbol.c_str());
}

CUdriverProcAddressQueryResult look_up(std::string_view name, int version, std::uint64_t flags,
                                       void** out) {
  *out = nullptr;
  bool known = false;
  for (const Version& candidate : kVersions) {
    if (candidate.name != name) continue;
    known = true;
    if (candidate.since <= version) {
      *out = find_symbol(candidate.symbol, flags);
      return *out != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
  }
  if (known) return CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  if (name.starts_with("cu")) *out = find_symbol(std::string(name), flags);
  return *out != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

CUresult get(const char* symbol, void** out, int version, std::uint64_t flags,
             CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || out == nullptr || flags > 3 || version > kDriverVersion) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return guarded([&] {
    *status = look_up(symbol, version, flags, out);
    return CUDA_SUCCESS;
  });
}

}  // namespace

GDR_CU cuGetProcAddress(const char* symbol, void** out, int version, std::uint64_t flags) {
  CUdriverProcAddressQueryResult found{};
  const CUresult r = get(symbol, out, version, flags, &found);
  return r == CUDA_SUCCESS && found != CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_ERROR_NOT_FOUND : r;
}

// Since CUDA 12, not to find a function is an answer and no error, even for callers who do not ask.
GDR_CU cuGetProcAddress_v2(const char* symbol, void** out, int version, std::uint64_t flags,
                           CUdriverProcAddressQueryResult* status) {
  CUdriverProcAddressQueryResult unasked{};
  return get(symbol, out, version, flags, status != nullptr ? status : &unasked);
}
GDR_CU cuGetProcAddress_v2_ptsz(const char* symbol, void** out, int version, std::uint64_t flags,
                                CUdriverProcAddressQueryResult* status) {
  return cuGetProcAddress_v2(symbol, out, version,
                             flags | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, status);
}

}  // namespace gdr::softgpu
