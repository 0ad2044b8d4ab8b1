#include "watch/gpu.h"

#include <atomic>
#include <cstring>

#include "cuda/driver_abi.h"
#include "cuda/place.h"
#include "watch/lookup.h"

namespace gdr::watch {
namespace {

constexpr char kDriver[] = "libcuda.so.1";

// A driver that appears later is found later; one that was found stays.
template <typename Function>
Function* driver_function(std::atomic<Function*>& known, const char* name) {
  Function* found = known.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = reinterpret_cast<Function*>(loaded_function(kDriver, name, nullptr));
    if (found != nullptr) known.store(found, std::memory_order_release);
  }
  return found;
}

using ExchangeCaptureMode = cuda::CUresult(cuda::CUstreamCaptureMode*);
using GetPciBusId = cuda::CUresult(char*, int, cuda::CUdevice);

constinit std::atomic<cuda::PointerGetAttributes*> get_attributes{nullptr};
constinit std::atomic<ExchangeCaptureMode*> exchange_capture_mode{nullptr};
constinit std::atomic<GetPciBusId*> get_pci_bus_id{nullptr};

// While it lives, this thread's driver calls are allowed beside anybody's stream capture.
class RelaxedCapture {
 public:
  RelaxedCapture()
      : exchange_(driver_function(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode")) {
    if (exchange_ != nullptr && exchange_(&mode_) != cuda::CUDA_SUCCESS) exchange_ = nullptr;
  }
  ~RelaxedCapture() {
    if (exchange_ != nullptr) exchange_(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  ExchangeCaptureMode* exchange_;
  cuda::CUstreamCaptureMode mode_ = cuda::CU_STREAM_CAPTURE_MODE_RELAXED;
};

void name_bus(GpuPlace& place, int ordinal) {
  GetPciBusId* ask = driver_function(get_pci_bus_id, "cuDeviceGetPCIBusId");
  if (ask == nullptr || ask(place.bus, sizeof place.bus, ordinal) != cuda::CUDA_SUCCESS) {
    place.bus[0] = '\0';
  }
  place.bus[sizeof place.bus - 1] = '\0';
}

}  // namespace

GpuPlace gpu_place(std::uint64_t address, std::uint64_t bytes) {
  GpuPlace place;
  cuda::PointerGetAttributes* ask = driver_function(get_attributes, "cuPointerGetAttributes");
  if (ask == nullptr || address == 0) return place;
  const RelaxedCapture relaxed;
  const cuda::Place found = cuda::place_of_range(*ask, address, bytes);
  place.is_gpu = found.is_device;
  place.is_managed = found.is_managed;
  if (place.is_gpu) name_bus(place, found.ordinal);
  return place;
}

GpuPlace gpu_place_of_dma_buf(std::uint64_t iova, std::uint64_t bytes) {
  GpuPlace place = gpu_place(iova, bytes);
  // Only devices export dma-bufs that programs give to a NIC; which GPU it is does not show then.
  place.is_gpu = true;
  return place;
}

}  // namespace gdr::watch
