// What rdma-core's provider for rxe lacks: ibv_reg_dmabuf_mr. The kernel is asked by the function
// that providers of other NICs have for it. To be preloaded in the guest, where rxe takes dma-bufs
// (tests/vm/peermem/rxe_with_peers), also by programs that look libibverbs's functions up.
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include <string>

namespace {

// As libibverbs has it between itself and its providers (verbs_mr), with room to spare. The
// provider frees it.
struct Region {
  ibv_mr shown;
  int type;
  int access;
  char more[64];
};

using Register = int (*)(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int, Region*);
using LookUp = void* (*)(void*, const char*, const char*);

LookUp real_dlvsym() {
  static const auto found = reinterpret_cast<LookUp>(dlsym(RTLD_NEXT, "dlvsym"));
  return found;
}

// Its version says which rdma-core this is.
Register command() {
  static const Register found = [] {
    void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
    for (int abi = 25; library && abi < 100; ++abi) {
      const std::string version = "IBVERBS_PRIVATE_" + std::to_string(abi);
      if (void* at = real_dlvsym()(library, "ibv_cmd_reg_dmabuf_mr", version.c_str())) {
        return reinterpret_cast<Register>(at);
      }
    }
    return Register(nullptr);
  }();
  return found;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
                          int fd, int access) {
  if (!command()) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto* region = static_cast<Region*>(calloc(1, sizeof(Region)));
  if (!region) return nullptr;
  const int error = command()(pd, offset, length, iova, fd, access, region);
  if (error) {
    free(region);
    errno = error;
    return nullptr;
  }
  region->shown.context = pd->context;
  region->shown.pd = pd;
  region->shown.addr = reinterpret_cast<void*>(offset);
  region->shown.length = length;
  return &region->shown;
}

void* dlvsym(void* __restrict library, const char* __restrict name,
             const char* __restrict version) noexcept {
  if (!strcmp(name, "ibv_reg_dmabuf_mr")) return reinterpret_cast<void*>(&ibv_reg_dmabuf_mr);
  return real_dlvsym()(library, name, version);
}

}  // extern "C"
#pragma GCC visibility pop
