#include "cuda_calls.h"

#include <dlfcn.h>

namespace gdr::test {
namespace {

constexpr int kVersion = 12000;

template <typename Find>
bool fill_in(CudaCalls* calls, Find find) {
  bool all = true;
#define GDR_TEST_FIND(member, symbol, name)                                       \
  calls->member = reinterpret_cast<decltype(calls->member)>(find(#symbol, name)); \
  all = all && calls->member != nullptr;
  GDR_TEST_CALLS(GDR_TEST_FIND)
#undef GDR_TEST_FIND
  return all;
}

bool by_dlsym(int scope, bool in_global_scope, CudaCalls* calls) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | scope);
  if (library == nullptr) return false;
  void* from = in_global_scope ? RTLD_DEFAULT : library;
  return fill_in(calls, [from](const char* symbol, const char*) { return dlsym(from, symbol); });
}

bool by_proc_address(CudaCalls* calls) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* found = library != nullptr ? dlsym(library, "cuGetProcAddress_v2") : nullptr;
  using Get = decltype(cuda::cuGetProcAddress_v2);
  // As the runtime does: the function that is asked from then on is itself asked for.
  void* again = nullptr;
  if (found == nullptr || reinterpret_cast<Get*>(found)("cuGetProcAddress", &again, kVersion, 0,
                                                        nullptr) != cuda::CUDA_SUCCESS) {
    return false;
  }
  return fill_in(calls, [again](const char*, const char* name) {
    void* function = nullptr;
    reinterpret_cast<Get*>(again)(name, &function, kVersion, 0, nullptr);
    return function;
  });
}

bool by_runtime(CudaCalls* calls) {
  void* library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  using EntryPoint = int(const char*, void**, unsigned, unsigned long long, int*);
  auto* get = reinterpret_cast<EntryPoint*>(dlsym(library, "cudaGetDriverEntryPointByVersion"));
  if (get == nullptr) return false;
  return fill_in(calls, [get](const char*, const char* name) {
    void* function = nullptr;
    int status = 0;
    get(name, &function, kVersion, 0, &status);
    return function;
  });
}

}  // namespace

bool get_cuda_calls(std::string_view manner, CudaCalls* calls) {
  if (manner == "dlsym") return by_dlsym(RTLD_LOCAL, false, calls);
  if (manner == "default") return by_dlsym(RTLD_GLOBAL, true, calls);
  if (manner == "proc-address") return by_proc_address(calls);
  if (manner == "runtime") return by_runtime(calls);
#ifdef GDR_TEST_LINKED
  if (manner == "linked") {
#define GDR_TEST_ADDRESS(member, symbol, name) calls->member = &cuda::symbol;
    GDR_TEST_CALLS(GDR_TEST_ADDRESS)
#undef GDR_TEST_ADDRESS
    return true;
  }
#endif
  return false;
}

}  // namespace gdr::test
