// What a GPU's own driver knows and the software GPU's lacks: where its memory lies. Registering
// memory tells the stand-in for the kernel's driver (tests/vm/peermem/nvidia_stub) first what the
// software GPU has at that address, so that a peer-memory module finds it as on a real host. To be
// preloaded in the guest into programs that look libibverbs's functions up; needs /dev/udmabuf.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "../peermem/nvidia_stub/gpu_memory.h"

#undef ibv_reg_mr

namespace {

constexpr std::uint64_t kGpuPage = 64 << 10;
constexpr int kBufferId = 7;  // CU_POINTER_ATTRIBUTE_BUFFER_ID
constexpr int kDmaBuf = 1;    // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD

using LookUp = void* (*)(void*, const char*, const char*);
using Register = ibv_mr* (*)(ibv_pd*, void*, std::size_t, int);

LookUp real_dlvsym() {
  static const auto found = reinterpret_cast<LookUp>(dlsym(RTLD_NEXT, "dlvsym"));
  return found;
}

Register real_register() {
  static const auto found = [] {
    void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
    return library ? reinterpret_cast<Register>(real_dlvsym()(library, "ibv_reg_mr", "IBVERBS_1.1"))
                   : nullptr;
  }();
  return found;
}

// The public functions of the GPU's library, which the program has loaded by then, or none.
struct Gpu {
  int (*range)(std::uint64_t* base, std::size_t* bytes, std::uint64_t address) = nullptr;
  int (*attribute)(void* value, int attribute, std::uint64_t address) = nullptr;
  int (*dma_buf)(void* made, std::uint64_t address, std::size_t bytes, int type,
                 unsigned long long flags) = nullptr;

  bool known() const { return range && attribute && dma_buf; }
};

Gpu find_gpu() {
  Gpu gpu;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return gpu;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  find(gpu.range, "cuMemGetAddressRange_v2");
  find(gpu.attribute, "cuPointerGetAttribute");
  find(gpu.dma_buf, "cuMemGetHandleForAddressRange");
  return gpu;
}

// What the driver has been told: the identity of the memory at each address.
class Driver {
 public:
  // Errors are the driver's to find: what it does not know cannot be registered.
  void tell(std::uint64_t address) {
    const std::lock_guard guard(lock_);
    if (device_ < 0) device_ = open(GPU_MEMORY_DEVICE, O_RDWR | O_CLOEXEC);
    const Gpu gpu = find_gpu();
    if (device_ < 0 || !gpu.known()) return;
    std::uint64_t base = 0, identity = 0;
    std::size_t bytes = 0;
    if (gpu.range(&base, &bytes, address) != 0 || gpu.attribute(&identity, kBufferId, base) != 0) {
      // Memory of the GPU was there once, and is freed.
      import({address / kGpuPage * kGpuPage, 0, -1, 0});
      return;
    }
    const auto known = told_.find(base);
    if (known != told_.end() && known->second == identity) return;
    int buffer = -1;
    if (const int error = gpu.dma_buf(&buffer, base, bytes, kDmaBuf, 0)) {
      fprintf(stderr, "driven_gpu: no dma-buf of %zu bytes: CUresult %d\n", bytes, error);
      return;
    }
    if (import({base, bytes, buffer, 0})) told_[base] = identity;
    close(buffer);  // the driver has its own reference
  }

 private:
  bool import(gpu_memory_import memory) const {
    if (ioctl(device_, GPU_MEMORY_IMPORT, &memory) == 0) return true;
    fprintf(stderr, "driven_gpu: the driver takes no %llu bytes at 0x%llx: %s\n", memory.length,
            memory.address, strerror(errno));
    return false;
  }

  std::mutex lock_;
  int device_ = -1;
  std::map<std::uint64_t, std::uint64_t> told_;
};

ibv_mr* register_memory(ibv_pd* pd, void* address, std::size_t bytes, int access) {
  static Driver driver;
  driver.tell(reinterpret_cast<std::uint64_t>(address));
  return real_register()(pd, address, bytes, access);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" void* dlvsym(void* __restrict library, const char* __restrict name,
                        const char* __restrict version) noexcept {
  if (!strcmp(name, "ibv_reg_mr")) return reinterpret_cast<void*>(&register_memory);
  return real_dlvsym()(library, name, version);
}
#pragma GCC visibility pop
