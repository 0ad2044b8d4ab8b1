#include "observe/driver_calls.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cuda/driver_abi.h"
#include "cuda/place.h"
#include "observe/exports.h"
#include "observe/lookup.h"

#define GDR_OBSERVED extern "C" __attribute__((visibility("default")))

namespace cuda = gdr::cuda;
using cuda::CUresult;

extern "C" {
cuda::CUresult cuMemGetHandleForAddressRange(void* out, cuda::CUdeviceptr address,
                                             std::size_t bytes, cuda::CUmemRangeHandleType type,
                                             unsigned long long flags);
cuda::CUresult cuGetProcAddress(const char* symbol, void** out, int version, std::uint64_t flags);
cuda::CUresult cuGetProcAddress_ptsz(const char* symbol, void** out, int version,
                                     std::uint64_t flags);
cuda::CUresult cuGetProcAddress_v2(const char* symbol, void** out, int version, std::uint64_t flags,
                                   cuda::CUdriverProcAddressQueryResult* status);
cuda::CUresult cuGetProcAddress_v2_ptsz(const char* symbol, void** out, int version,
                                        std::uint64_t flags,
                                        cuda::CUdriverProcAddressQueryResult* status);
}

namespace gdr::observe {
namespace {

constinit Exports exports{};

enum Which { kExport, kGet, kGetPtsz, kGet2, kGet2Ptsz, kCount };
constexpr const char* kNames[kCount] = {"cuMemGetHandleForAddressRange", "cuGetProcAddress",
                                        "cuGetProcAddress_ptsz", "cuGetProcAddress_v2",
                                        "cuGetProcAddress_v2_ptsz"};
// The driver's own function, known since the first lookup or call.
constinit std::atomic<void*> behind[kCount]{};

// kCount: none of them.
Which which(const char* name) {
  if (name[0] != 'c' || name[1] != 'u') return kCount;
  for (int one = 0; one < kCount; ++one) {
    if (std::strcmp(name, kNames[one]) == 0) return static_cast<Which>(one);
  }
  return kCount;
}

void* wrapper(Which one) {
  switch (one) {
    case kExport:
      return reinterpret_cast<void*>(&cuMemGetHandleForAddressRange);
    case kGet:
      return reinterpret_cast<void*>(&cuGetProcAddress);
    case kGetPtsz:
      return reinterpret_cast<void*>(&cuGetProcAddress_ptsz);
    case kGet2:
      return reinterpret_cast<void*>(&cuGetProcAddress_v2);
    case kGet2Ptsz:
      return reinterpret_cast<void*>(&cuGetProcAddress_v2_ptsz);
    case kCount:
      break;
  }
  return nullptr;
}

// Keeps the library loaded even if the program closes it. False on failure.
bool stays_loaded(const Dl_info& where) {
  if (where.dli_fname == nullptr) return false;
  const bool stays = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
  if (!stays) dlerror();
  return stays;
}

template <typename Function>
Function* real(Which one) {
  void* found = behind[one].load(std::memory_order_acquire);
  if (found == nullptr) {
    found = behind_us(kNames[one]);
    Dl_info where{};
    if (found != nullptr && dladdr(found, &where) != 0 && stays_loaded(where)) {
      behind[one].store(found, std::memory_order_release);
    }
  }
  return reinterpret_cast<Function*>(found);
}

// A program may have a function or variable of such a name that has nothing to do with the driver.
bool is_in_a_driver(void* address, Dl_info* where) {
  if (dladdr(address, where) == 0 || where->dli_fname == nullptr) return false;
  const char* slash = std::strrchr(where->dli_fname, '/');
  const char* file = slash != nullptr ? slash + 1 : where->dli_fname;
  constexpr char kDriver[] = "libcuda.so";
  return std::strncmp(file, kDriver, sizeof kDriver - 1) == 0;
}

void* in_place_of(Which one, void* found) {
  Dl_info where{}, known_where{};
  if (!is_in_a_driver(found, &where) || !stays_loaded(where)) return found;
  void* known = nullptr;
  // A driver exports a function under one address, and may hand it out under another.
  if (behind[one].compare_exchange_strong(known, found) || known == found ||
      (dladdr(known, &known_where) != 0 && known_where.dli_fbase == where.dli_fbase)) {
    return wrapper(one);
  }
  return found;
}

// While it lives, this thread's driver calls are allowed beside anybody's stream capture.
class RelaxedCapture {
 public:
  RelaxedCapture()
      : exchange_(
            reinterpret_cast<Exchange*>(driver_function("cuThreadExchangeStreamCaptureMode"))) {
    if (exchange_ != nullptr && exchange_(&mode_) != cuda::CUDA_SUCCESS) exchange_ = nullptr;
  }
  ~RelaxedCapture() {
    if (exchange_ != nullptr) exchange_(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  using Exchange = CUresult(cuda::CUstreamCaptureMode*);
  Exchange* exchange_;
  cuda::CUstreamCaptureMode mode_ = cuda::CU_STREAM_CAPTURE_MODE_RELAXED;
};

void observe(int descriptor, std::uint64_t address, std::uint64_t bytes) {
  const int kept = errno;
  struct stat status {};
  auto* ask =
      reinterpret_cast<cuda::PointerGetAttributes*>(driver_function("cuPointerGetAttributes"));
  if (ask != nullptr && fstat(descriptor, &status) == 0) {
    const RelaxedCapture relaxed;
    const std::uint64_t identity = cuda::identity_of(*ask, address, bytes);
    if (identity != 0) {
      exports.record({status.st_dev, status.st_ino, getpid(), {address, bytes, identity}});
    }
  }
  errno = kept;
}

// The driver's own name of what it returned for `symbol`: the requested version decides the ABI.
void observe_lookup(const char* symbol, void** out, int version, std::uint64_t flags) {
  if (symbol == nullptr || out == nullptr || *out == nullptr) return;
  constexpr int kSecondSince = 12000;
  Which one = which(symbol);
  if (one == kGet) {
    const bool per_thread = (flags & cuda::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    if (version >= kSecondSince) {
      one = per_thread ? kGet2Ptsz : kGet2;
    } else {
      one = per_thread ? kGetPtsz : kGet;
    }
  }
  if (one != kCount) *out = in_place_of(one, *out);
}

CUresult get_proc_address(Which one, const char* symbol, void** out, int version,
                          std::uint64_t flags) {
  auto* get = real<decltype(cuGetProcAddress)>(one);
  if (get == nullptr) return cuda::CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = get(symbol, out, version, flags);
  if (one == kGetPtsz) flags |= cuda::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (result == cuda::CUDA_SUCCESS) observe_lookup(symbol, out, version, flags);
  return result;
}

CUresult get_proc_address(Which one, const char* symbol, void** out, int version,
                          std::uint64_t flags, cuda::CUdriverProcAddressQueryResult* status) {
  auto* get = real<decltype(cuGetProcAddress_v2)>(one);
  if (get == nullptr) return cuda::CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = get(symbol, out, version, flags, status);
  if (one == kGet2Ptsz) flags |= cuda::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (result == cuda::CUDA_SUCCESS) observe_lookup(symbol, out, version, flags);
  return result;
}

}  // namespace

void* wrapper_of(const char* name) { return wrapper(which(name)); }

void* in_place_of(const char* name, void* found) {
  const Which one = which(name);
  return found == nullptr || one == kCount ? found : in_place_of(one, found);
}

}  // namespace gdr::observe

using namespace gdr::observe;  // NOLINT: the rest is the C interface of the namespace

GDR_OBSERVED CUresult cuMemGetHandleForAddressRange(void* out, cuda::CUdeviceptr address,
                                                    std::size_t bytes,
                                                    cuda::CUmemRangeHandleType type,
                                                    unsigned long long flags) {
  auto* make = real<decltype(cuMemGetHandleForAddressRange)>(kExport);
  if (make == nullptr) return cuda::CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = make(out, address, bytes, type, flags);
  if (result == cuda::CUDA_SUCCESS && out != nullptr &&
      type == cuda::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD) {
    observe(*static_cast<const int*>(out), address, bytes);
  }
  return result;
}

GDR_OBSERVED CUresult cuGetProcAddress(const char* symbol, void** out, int version,
                                       std::uint64_t flags) {
  return get_proc_address(kGet, symbol, out, version, flags);
}
GDR_OBSERVED CUresult cuGetProcAddress_ptsz(const char* symbol, void** out, int version,
                                            std::uint64_t flags) {
  return get_proc_address(kGetPtsz, symbol, out, version, flags);
}
GDR_OBSERVED CUresult cuGetProcAddress_v2(const char* symbol, void** out, int version,
                                          std::uint64_t flags,
                                          cuda::CUdriverProcAddressQueryResult* status) {
  return get_proc_address(kGet2, symbol, out, version, flags, status);
}
GDR_OBSERVED CUresult cuGetProcAddress_v2_ptsz(const char* symbol, void** out, int version,
                                               std::uint64_t flags,
                                               cuda::CUdriverProcAddressQueryResult* status) {
  return get_proc_address(kGet2Ptsz, symbol, out, version, flags, status);
}

// For the software NIC (cuda/observed_dma_buf.h).
GDR_OBSERVED int gdr_find_observed_dma_buf(std::uint64_t device, std::uint64_t inode,
                                           cuda::ObservedDmaBuf* found) {
  return exports.find(device, inode, getpid(), found) ? 1 : 0;
}
