#include "gpu.h"

#include <algorithm>

#include "fail.h"

namespace gdr::bench {
namespace {

const cuda::Driver& loaded_driver() {
  static const Result<const cuda::Driver*> driver = cuda::Driver::load();
  if (!driver) fail("%s", driver.error().message.c_str());
  return **driver;
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

int Gpu::count() {
  const cuda::Driver& driver = loaded_driver();
  if (const cuda::CUresult r = driver.init(0)) fail("cuInit: %s", driver.describe(r).c_str());
  int count = 0;
  driver.device_get_count(&count);
  return count;
}

Gpu::Gpu(int ordinal) : cuda_(loaded_driver()), ordinal_(ordinal) {
  const int gpus = count();
  if (ordinal >= gpus) fail("GPU %d of %d; choose others with --gpus A,B", ordinal, gpus);
  done(cuda_.device_get(&device_, ordinal), "cuDeviceGet");
  cuda::CUcontext context = nullptr;
  done(cuda_.device_primary_ctx_retain(&context, device_), "cuDevicePrimaryCtxRetain");
  done(cuda_.ctx_set_current(context), "cuCtxSetCurrent");
  done(cuda_.stream_create(&stream_, cuda::CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  for (cuda::CUevent& mark : marks_) {
    done(cuda_.event_create(&mark, cuda::CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
}

void Gpu::done(cuda::CUresult result, const char* call) const {
  if (result != cuda::CUDA_SUCCESS) {
    fail("%s on GPU %d: %s", call, ordinal_, cuda_.describe(result).c_str());
  }
}

std::string Gpu::name() const {
  char name[128] = "";
  done(cuda_.device_get_name(name, sizeof name, device_), "cuDeviceGetName");
  return name;
}

cuda::CUdeviceptr Gpu::allocate(std::size_t bytes, bool vmm) {
  cuda::CUdeviceptr memory = 0;
  if (!vmm) {
    // An allocation below 2 MiB shares its block with others.
    done(cuda_.mem_alloc(&memory, std::max<std::size_t>(bytes, 2 << 20)), "cuMemAlloc");
    return memory;
  }
  cuda::CUmemAllocationProp wanted{};
  wanted.type = cuda::CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.requestedHandleTypes = cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  wanted.location = {cuda::CU_MEM_LOCATION_TYPE_DEVICE, ordinal_};
  wanted.allocFlags.gpuDirectRDMACapable = 1;
  std::size_t granularity = 0;
  done(cuda_.mem_get_allocation_granularity(&granularity, &wanted,
                                            cuda::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
       "cuMemGetAllocationGranularity");
  bytes = (bytes + granularity - 1) / granularity * granularity;
  cuda::CUmemGenericAllocationHandle handle = 0;
  done(cuda_.mem_create(&handle, bytes, &wanted, 0), "cuMemCreate");
  return map(handle, bytes);
}

cuda::CUdeviceptr Gpu::map(cuda::CUmemGenericAllocationHandle handle, std::size_t bytes) {
  cuda::CUdeviceptr memory = 0;
  done(cuda_.mem_address_reserve(&memory, bytes, 0, 0, 0), "cuMemAddressReserve");
  done(cuda_.mem_map(memory, bytes, 0, handle, 0), "cuMemMap");
  done(cuda_.mem_release(handle), "cuMemRelease");  // the mapping keeps the memory
  cuda::CUmemAccessDesc access{};
  access.location = {cuda::CU_MEM_LOCATION_TYPE_DEVICE, ordinal_};
  access.flags = cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  done(cuda_.mem_set_access(memory, bytes, &access, 1), "cuMemSetAccess");
  return memory;
}

std::uint64_t Gpu::allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  done(cuda_.mem_host_alloc(&memory, bytes, cuda::CU_MEMHOSTALLOC_PORTABLE_FLAG), "cuMemHostAlloc");
  return reinterpret_cast<std::uintptr_t>(memory);
}

ExportedMemory Gpu::share(cuda::CUdeviceptr memory, bool vmm, int& descriptor) const {
  ExportedMemory exported;
  descriptor = -1;
  cuda::CUdeviceptr base = 0;
  std::size_t bytes = 0;
  done(cuda_.mem_get_address_range(&base, &bytes, memory), "cuMemGetAddressRange");
  exported.bytes = bytes;
  exported.offset = memory - base;
  if (!vmm) {
    done(cuda_.ipc_get_mem_handle(&exported.handle, memory), "cuIpcGetMemHandle");
    return exported;
  }
  cuda::CUmemGenericAllocationHandle handle = 0;
  done(cuda_.mem_retain_allocation_handle(&handle, pointer(memory)), "cuMemRetainAllocationHandle");
  done(cuda_.mem_export_to_shareable_handle(&descriptor, handle,
                                            cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
       "cuMemExportToShareableHandle");
  done(cuda_.mem_release(handle), "cuMemRelease");
  return exported;
}

cuda::CUdeviceptr Gpu::open(const ExportedMemory& memory, int descriptor) {
  if (descriptor < 0) {
    cuda::CUdeviceptr opened = 0;
    done(
        cuda_.ipc_open_mem_handle(&opened, memory.handle, cuda::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
        "cuIpcOpenMemHandle");
    return opened + memory.offset;
  }
  cuda::CUmemGenericAllocationHandle handle = 0;
  done(cuda_.mem_import_from_shareable_handle(&handle,
                                              pointer(static_cast<std::uint64_t>(descriptor)),
                                              cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
       "cuMemImportFromShareableHandle");
  return map(handle, memory.bytes) + memory.offset;
}

void Gpu::copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, Kind kind) {
  switch (kind) {
    case Kind::kOnDevice:
      return done(cuda_.memcpy_async(to, from, bytes, stream_), "cuMemcpyAsync");
    case Kind::kFromHost:
      return done(cuda_.memcpy_htod_async(to, pointer(from), bytes, stream_), "cuMemcpyHtoDAsync");
    case Kind::kToHost:
      return done(cuda_.memcpy_dtoh_async(pointer(to), from, bytes, stream_), "cuMemcpyDtoHAsync");
  }
}

void Gpu::finish() { done(cuda_.stream_synchronize(stream_), "cuStreamSynchronize"); }

void Gpu::mark(int index) { done(cuda_.event_record(marks_[index], stream_), "cuEventRecord"); }

void Gpu::await(int index) { done(cuda_.event_synchronize(marks_[index]), "cuEventSynchronize"); }

bool Gpu::passed(int index) {
  const cuda::CUresult result = cuda_.event_query(marks_[index]);
  if (result == cuda::CUDA_ERROR_NOT_READY) return false;
  done(result, "cuEventQuery");
  return true;
}

int choose_gpu(const Options& options, bool is_peer) {
  const int chosen = options.gpus[is_peer ? 1 : 0];
  if (chosen >= 0) return chosen;
  return is_peer && Gpu::count() > 1 ? 1 : 0;
}

}  // namespace gdr::bench
