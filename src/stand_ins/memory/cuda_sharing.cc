#include "memory/cuda_sharing.h"

#include <cstring>

#include "memory/cuda_scope.h"
#include "memory/pointer.h"

namespace gdr::memory {
namespace {

// From here on an allocation has its own block of the driver's.
constexpr std::uint64_t kOwnBlock = 2 << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 44;

// The GPU's primary context, current while this lives; none if the program does not use it. It is
// held no longer than that: whether and when it ends is the program's business.
class PrimaryContext {
 public:
  PrimaryContext(const cuda::Driver& driver, int ordinal) : driver_(driver) {
    unsigned flags = 0;
    int active = 0;
    cuda::CUcontext context = nullptr;
    if (driver.device_get(&device_, ordinal) != cuda::CUDA_SUCCESS ||
        driver.device_primary_ctx_get_state(device_, &flags, &active) != cuda::CUDA_SUCCESS ||
        active == 0 || driver.device_primary_ctx_retain(&context, device_) != cuda::CUDA_SUCCESS) {
      return;
    }
    is_held_ = true;
    is_current_ = driver.ctx_push_current(context) == cuda::CUDA_SUCCESS;
  }
  ~PrimaryContext() {
    cuda::CUcontext popped = nullptr;
    if (is_current_) driver_.ctx_pop_current(&popped);
    if (is_held_) driver_.device_primary_ctx_release(device_);
  }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  explicit operator bool() const { return is_current_; }

 private:
  const cuda::Driver& driver_;
  cuda::CUdevice device_ = 0;
  bool is_held_ = false, is_current_ = false;
};

std::uint64_t buffer_id_of(const cuda::Driver& driver, cuda::CUdeviceptr address) {
  unsigned long long id = 0;
  const cuda::CUresult result =
      driver.pointer_get_attribute(&id, cuda::CU_POINTER_ATTRIBUTE_BUFFER_ID, address);
  return result == cuda::CUDA_SUCCESS ? id : 0;
}

// For mapped VMM memory; other memory has no allocation handle.
bool export_descriptor(const cuda::Driver& driver, Exported& range) {
  cuda::CUmemGenericAllocationHandle handle = 0;
  if (driver.mem_retain_allocation_handle(&handle, pointer(range.address)) != cuda::CUDA_SUCCESS) {
    return false;
  }
  int made = -1;
  const bool exported =
      driver.mem_export_to_shareable_handle(
          &made, handle, cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == cuda::CUDA_SUCCESS;
  driver.mem_release(handle);
  range.descriptor = made;
  return exported;
}

bool export_handle(const cuda::Driver& driver, Exported& range) {
  if (range.length < kOwnBlock) return false;
  cuda::CUipcMemHandle handle;
  static_assert(sizeof handle == sizeof range.handle);
  if (driver.ipc_get_mem_handle(&handle, range.address) != cuda::CUDA_SUCCESS) return false;
  std::memcpy(range.handle.data(), &handle, sizeof handle);
  return true;
}

}  // namespace

Exported export_memory(const cuda::Driver& driver, const CudaEngine& engine, Exported range) {
  range.device = engine.uuid();
  const RelaxedCapture relaxed(driver);
  const CurrentContext current(driver, engine.context());
  if (current.result() != cuda::CUDA_SUCCESS) return {};
  if (export_descriptor(driver, range)) {
    range.kind = Exported::Kind::kDescriptor;
  } else if (export_handle(driver, range)) {
    range.kind = Exported::Kind::kIpc;
  }
  return range;
}

Result<std::unique_ptr<OpenedMemory>> OpenedMemory::open(const cuda::Driver& driver,
                                                         const CudaEngine& engine,
                                                         const Exported& exported,
                                                         UniqueFd descriptor) {
  if (exported.length == 0 || exported.length > kMostBytes) {
    return Error{EINVAL, "memory of another process has no such length"};
  }
  const RelaxedCapture relaxed(driver);
  const CurrentContext current(driver, engine.context());
  std::unique_ptr<OpenedMemory> opened(
      new OpenedMemory(driver, engine, exported.kind, exported.length));
  cuda::CUresult result = current.result();
  if (result == cuda::CUDA_SUCCESS) {
    result = exported.kind == Exported::Kind::kIpc ? opened->open_handle(exported)
                                                   : opened->map_descriptor(descriptor.get());
  }
  if (result == cuda::CUDA_SUCCESS) return opened;
  return Error{EOPNOTSUPP, "GPU memory of another process: " + driver.describe(result)};
}

// In the context that libraries would use.
cuda::CUresult OpenedMemory::open_handle(const Exported& exported) {
  {
    const PrimaryContext primary(driver_, engine_.ordinal());
    if (primary) {
      const cuda::CUresult result = open_handle_here(exported);
      if (result != cuda::CUDA_SUCCESS) return result;
      buffer_id_ = buffer_id_of(driver_, address_);
      if (buffer_id_ != 0) return cuda::CUDA_SUCCESS;
      // Only an identity tells later that the memory went away with its context.
      driver_.ipc_close_mem_handle(address_);
      address_ = 0;
    }
  }
  return open_handle_here(exported);
}

// In the current context.
cuda::CUresult OpenedMemory::open_handle_here(const Exported& exported) {
  cuda::CUipcMemHandle handle;
  std::memcpy(&handle, exported.handle.data(), sizeof handle);
  if (cuda::CUresult r = driver_.ipc_open_mem_handle(&address_, handle,
                                                     cuda::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)) {
    return r;
  }
  // How far it reaches only the driver is believed.
  cuda::CUdeviceptr base = 0;
  std::size_t bytes = 0;
  cuda::CUresult result = driver_.mem_get_address_range(&base, &bytes, address_);
  if (result == cuda::CUDA_SUCCESS && (base != address_ || bytes < bytes_)) {
    result = cuda::CUDA_ERROR_INVALID_VALUE;
  }
  if (result != cuda::CUDA_SUCCESS) {
    driver_.ipc_close_mem_handle(address_);
    address_ = 0;
  }
  return result;
}

// Mapped for this engine's GPU, not for the one that the memory lies on: no context is made there.
cuda::CUresult OpenedMemory::map_descriptor(int descriptor) {
  cuda::CUmemGenericAllocationHandle handle = 0;
  if (cuda::CUresult r = driver_.mem_import_from_shareable_handle(
          &handle, pointer(static_cast<std::uint64_t>(descriptor)),
          cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)) {
    return r;
  }
  cuda::CUresult result = driver_.mem_address_reserve(&address_, bytes_, 0, 0, 0);
  if (result == cuda::CUDA_SUCCESS) {
    is_reserved_ = true;
    result = driver_.mem_map(address_, bytes_, 0, handle, 0);
  }
  driver_.mem_release(handle);  // the mapping keeps the memory
  if (result != cuda::CUDA_SUCCESS) return result;
  is_mapped_ = true;
  cuda::CUmemAccessDesc access{};
  access.location.type = cuda::CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = engine_.ordinal();
  access.flags = cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return driver_.mem_set_access(address_, bytes_, &access, 1);
}

OpenedMemory::~OpenedMemory() {
  if (address_ == 0) return;
  const RelaxedCapture relaxed(driver_);
  const CurrentContext current(driver_, engine_.context());
  if (buffer_id_ != 0) {
    const PrimaryContext primary(driver_, engine_.ordinal());
    if (primary && buffer_id_of(driver_, address_) == buffer_id_) {
      driver_.ipc_close_mem_handle(address_);
    }
    return;
  }
  if (kind_ == Exported::Kind::kIpc) {
    driver_.ipc_close_mem_handle(address_);
    return;
  }
  if (is_mapped_) driver_.mem_unmap(address_, bytes_);
  if (is_reserved_) driver_.mem_address_free(address_, bytes_);
}

}  // namespace gdr::memory
