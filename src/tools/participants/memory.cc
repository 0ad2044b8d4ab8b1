#include "participants/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "host/files.h"

namespace gdr::participants {
namespace {

constexpr std::uint64_t kGranularity = 2 << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers lack

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

struct HugePages {
  std::uint64_t size = 0;  // bytes of one
  std::uint64_t all = 0, free = 0;
};

// The kernel's default size of huge pages, the one that MAP_HUGETLB alone takes.
Result<HugePages> huge_pages() {
  const std::string text = host::Files("/").text("proc/meminfo");
  const auto value = [&](const std::string& label) -> std::uint64_t {
    const auto at = text.find("\n" + label);
    return at == std::string::npos ? 0
                                   : strtoull(text.c_str() + at + 1 + label.size(), nullptr, 10);
  };
  HugePages pages;
  pages.size = value("Hugepagesize:") * 1024;
  if (pages.size == 0) return Error{ENOTSUP, "this kernel has no huge pages"};
  pages.all = value("HugePages_Total:");
  const std::uint64_t reserved = value("HugePages_Rsvd:");
  pages.free = value("HugePages_Free:");
  pages.free -= std::min(pages.free, reserved);
  return pages;
}

Error no_huge_pages(int code, std::uint64_t bytes, const HugePages& pages) {
  const std::uint64_t needed = bytes / pages.size;
  std::string text = std::to_string(needed) + " huge pages of " + std::to_string(pages.size >> 10) +
                     " KiB are needed, but only " + std::to_string(pages.free) + " are free";
  if (needed > pages.free) {
    const std::uint64_t wanted = pages.all + needed - pages.free;
    text += "; reserve more: sudo sysctl vm.nr_hugepages=" + std::to_string(wanted);
  } else {
    text += std::string(", but the kernel refuses them (") + strerror(code) +
            "): a control group limits them (hugetlb.*.max), or they are on another NUMA node";
  }
  return {code, text};
}

}  // namespace

Error Memory::cuda_error(const char* call, cuda::CUresult result) const {
  return {static_cast<int>(result), std::string(call) + ": " + gpu_.driver->describe(result)};
}

Result<Memory> Memory::allocate(MemoryKind kind, std::uint64_t size, const Gpu& gpu, Pages pages) {
  Memory memory;
  memory.kind_ = kind;
  memory.gpu_ = gpu;
  if (kind != MemoryKind::kHost && !gpu.driver) return Error{ENODEV, "no GPU"};
  Result<void> done;
  switch (kind) {
    case MemoryKind::kHost:
      done = pages == Pages::kHuge ? memory.allocate_huge(size) : memory.allocate_host(size);
      break;
    case MemoryKind::kDevice:
      done = memory.allocate_device(round_up(size, kGranularity));
      break;
    case MemoryKind::kDeviceVmm:
      done = memory.allocate_vmm(size, gpu.device);
      break;
    default:
      return Error{EINVAL, "unknown kind of memory"};
  }
  if (!done) return done.error();
  return memory;
}

Result<Memory> Memory::allocate_on(int location, std::uint64_t size, const Gpu& gpu) {
  Memory memory;
  memory.kind_ = MemoryKind::kDeviceVmm;
  memory.gpu_ = gpu;
  if (Result<void> done = memory.allocate_vmm(size, location); !done) return done.error();
  return memory;
}

// Between two pages that nobody may touch: a CPU that writes past the end is stopped there.
Result<void> Memory::allocate_host(std::uint64_t size) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t inner = round_up(size, page);
  const std::uint64_t all = inner + 2 * page;
  void* mapping = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return Error{errno, std::string("mmap: ") + strerror(errno)};
  owner_ = std::shared_ptr<void>(mapping, [all](void* map) { munmap(map, all); });
  char* usable = static_cast<char*>(mapping) + page;
  if (mprotect(usable, inner, PROT_READ | PROT_WRITE) != 0) {
    return Error{errno, std::string("mprotect: ") + strerror(errno)};
  }
  address_ = reinterpret_cast<std::uint64_t>(usable);
  size_ = inner;
  return {};
}

// Guarded in the same way, by parts of a huge page that nobody maps.
Result<void> Memory::allocate_huge(std::uint64_t size) {
  const Result<HugePages> pages = huge_pages();
  if (!pages) return pages.error();
  const std::uint64_t inner = round_up(size, pages->size);
  const std::uint64_t all = inner + 2 * pages->size;
  void* mapping = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return Error{errno, std::string("mmap: ") + strerror(errno)};
  owner_ = std::shared_ptr<void>(mapping, [all](void* map) { munmap(map, all); });
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t from = round_up(reinterpret_cast<std::uint64_t>(mapping) + page, pages->size);
  void* usable = mmap(reinterpret_cast<void*>(from), inner, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB, -1, 0);
  if (usable == MAP_FAILED) return no_huge_pages(errno, inner, *pages);
  // A control group may refuse what the kernel has set aside; touching the memory would then end
  // the process. Kernels before 5.14 do not know this request.
  if (madvise(usable, inner, kPopulateWrite) != 0 && errno != EINVAL) {
    return no_huge_pages(errno, inner, *pages);
  }
  address_ = from;
  size_ = inner;
  return {};
}

Result<void> Memory::allocate_device(std::uint64_t size) {
  const cuda::Driver* driver = gpu_.driver;
  cuda::CUdeviceptr address = 0;
  if (auto result = driver->mem_alloc(&address, size)) return cuda_error("cuMemAlloc", result);
  owner_ = std::shared_ptr<void>(reinterpret_cast<void*>(address),
                                 [driver, address](void*) { driver->mem_free(address); });
  // CUDA asks for this before a third device writes: host calls then wait for copies in progress.
  const unsigned yes = 1;
  if (auto result =
          driver->pointer_set_attribute(&yes, cuda::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address)) {
    return cuda_error("cuPointerSetAttribute(SYNC_MEMOPS)", result);
  }
  address_ = address;
  size_ = size;
  return {};
}

Result<void> Memory::allocate_vmm(std::uint64_t size, int location) {
  const cuda::Driver* driver = gpu_.driver;
  cuda::CUmemAllocationProp wanted{};
  wanted.type = cuda::CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.requestedHandleTypes = cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  wanted.location = {cuda::CU_MEM_LOCATION_TYPE_DEVICE, location};
  wanted.allocFlags.gpuDirectRDMACapable = 1;
  std::size_t granularity = 0;
  if (auto result = driver->mem_get_allocation_granularity(
          &granularity, &wanted, cuda::CU_MEM_ALLOC_GRANULARITY_MINIMUM)) {
    return cuda_error("cuMemGetAllocationGranularity", result);
  }
  size = round_up(size, granularity == 0 ? kGranularity : granularity);

  cuda::CUmemGenericAllocationHandle handle = 0;
  if (auto result = driver->mem_create(&handle, size, &wanted, 0)) {
    return cuda_error("cuMemCreate", result);
  }
  cuda::CUdeviceptr address = 0;
  if (auto result = driver->mem_address_reserve(&address, size, 0, 0, 0)) {
    driver->mem_release(handle);
    return cuda_error("cuMemAddressReserve", result);
  }
  if (auto result = driver->mem_map(address, size, 0, handle, 0)) {
    driver->mem_address_free(address, size);
    driver->mem_release(handle);
    return cuda_error("cuMemMap", result);
  }
  owner_ = std::shared_ptr<void>(reinterpret_cast<void*>(address), [=](void*) {
    driver->mem_unmap(address, size);
    driver->mem_address_free(address, size);
    driver->mem_release(handle);
  });
  const cuda::CUmemAccessDesc access{{cuda::CU_MEM_LOCATION_TYPE_DEVICE, gpu_.device},
                                     cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  if (auto result = driver->mem_set_access(address, size, &access, 1)) {
    return cuda_error("cuMemSetAccess", result);
  }
  address_ = address;
  size_ = size;
  return {};
}

Result<void> Memory::write(std::uint64_t from, std::span<const std::byte> bytes) {
  if (!contains(from, bytes.size())) return Error{ERANGE, "outside the buffer"};
  if (bytes.empty()) return {};
  if (kind_ == MemoryKind::kHost) {
    memcpy(reinterpret_cast<void*>(address_ + from), bytes.data(), bytes.size());
    return {};
  }
  if (auto result = gpu_.driver->memcpy_htod(address_ + from, bytes.data(), bytes.size())) {
    return cuda_error("cuMemcpyHtoD", result);
  }
  // A copy from pageable memory may still be on its way to the device when the call returns.
  if (auto result = gpu_.driver->ctx_synchronize()) return cuda_error("cuCtxSynchronize", result);
  return {};
}

Result<void> Memory::read(std::uint64_t from, std::span<std::byte> bytes) const {
  if (!contains(from, bytes.size())) return Error{ERANGE, "outside the buffer"};
  if (bytes.empty()) return {};
  if (kind_ == MemoryKind::kHost) {
    memcpy(bytes.data(), reinterpret_cast<const void*>(address_ + from), bytes.size());
    return {};
  }
  if (gpu_.driver->flush_gpu_direct_rdma_writes) {
    // Devices that need no flush answer NOT_SUPPORTED; the copy below is the check either way.
    (void)gpu_.driver->flush_gpu_direct_rdma_writes(
        cuda::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
        cuda::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES);
  }
  if (auto result = gpu_.driver->memcpy_dtoh(bytes.data(), address_ + from, bytes.size())) {
    return cuda_error("cuMemcpyDtoH", result);
  }
  return {};
}

Result<UniqueFd> Memory::export_dmabuf() const {
  if (!gpu_.driver || !gpu_.driver->mem_get_handle_for_address_range) {
    return Error{cuda::CUDA_ERROR_NOT_SUPPORTED,
                 "the CUDA driver has no cuMemGetHandleForAddressRange (11.7 or newer needed)"};
  }
  int fd = -1;
  if (auto result = gpu_.driver->mem_get_handle_for_address_range(
          &fd, address_, size_, cuda::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0)) {
    return cuda_error("cuMemGetHandleForAddressRange", result);
  }
  return UniqueFd(fd);
}

}  // namespace gdr::participants
