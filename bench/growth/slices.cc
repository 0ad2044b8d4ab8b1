#include "slices.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "../give_up.h"
#include "cuda/driver.h"
#include "figures.h"

namespace gdr::bench {
namespace {

constexpr std::uint32_t kMostSlices = 100'000 + 64;

// All of it is there before anything is counted.
class HostSlices final : public SliceSource {
 public:
  HostSlices()
      : bytes_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {
    if (bytes_ == MAP_FAILED) give_up("mmap of {} bytes: {}", kBytes, std::strerror(errno));
  }
  ~HostSlices() override { munmap(bytes_, kBytes); }
  HostSlices(const HostSlices&) = delete;
  HostSlices& operator=(const HostSlices&) = delete;

  std::uint64_t add() override {
    if (count_ == kMostSlices) give_up("more than {} slices", kMostSlices);
    return reinterpret_cast<std::uintptr_t>(bytes_) + std::uint64_t{count_++} * kSliceBytes;
  }
  void remove_last() override { --count_; }

 private:
  static constexpr std::size_t kBytes = std::size_t{kMostSlices} * kSliceBytes;
  void* const bytes_;
  std::uint32_t count_ = 0;
};

class GpuSlices final : public SliceSource {
 public:
  GpuSlices() {
    const auto driver = cuda::Driver::load();
    if (!driver) give_up("{}", driver.error().message);
    cuda_ = *driver;
    cuda::CUdevice device = 0;
    cuda::CUcontext context = nullptr;
    expect(cuda_->init(0), "cuInit");
    expect(cuda_->device_get(&device, 0), "cuDeviceGet");
    expect(cuda_->device_primary_ctx_retain(&context, device), "cuDevicePrimaryCtxRetain");
    expect(cuda_->ctx_set_current(context), "cuCtxSetCurrent");
  }
  ~GpuSlices() override {
    while (!allocations_.empty()) remove_last();
  }
  GpuSlices(const GpuSlices&) = delete;
  GpuSlices& operator=(const GpuSlices&) = delete;

  std::uint64_t add() override {
    expect(cuda_->mem_alloc(&allocations_.emplace_back(), kAllocation), "cuMemAlloc");
    return allocations_.back();
  }
  void remove_last() override {
    expect(cuda_->mem_free(allocations_.back()), "cuMemFree");
    allocations_.pop_back();
  }

 private:
  static constexpr std::size_t kAllocation = std::size_t{64}
                                             << 10;  // the unit of GPU memory for RDMA
  void expect(cuda::CUresult result, const char* call) const {
    if (result != 0) give_up("{}: {}", call, cuda_->describe(result));
  }
  const cuda::Driver* cuda_ = nullptr;
  std::vector<cuda::CUdeviceptr> allocations_;
};

std::unique_ptr<SliceSource> source_of(SliceMemory memory) {
  if (memory == SliceMemory::kGpu) return std::make_unique<GpuSlices>();
  return std::make_unique<HostSlices>();
}

}  // namespace

SliceTable::SliceTable(ibv_pd* domain, SliceMemory memory)
    : domain_(domain), source_(source_of(memory)) {
  regions_.reserve(kMostSlices);
  slices_.reserve(kMostSlices);
}

SliceTable::~SliceTable() {
  while (!regions_.empty()) remove_last();
}

void SliceTable::grow(std::uint32_t count) {
  while (regions_.size() < count) add();
}

double SliceTable::add() {
  const std::uint64_t at = source_->add();
  ibv_mr* region = nullptr;
  const double seconds = seconds_of(
      [&] { region = ibv_reg_mr(domain_, reinterpret_cast<void*>(at), kSliceBytes, kRights); });
  if (region == nullptr) {
    give_up("ibv_reg_mr beside {} registrations: {}", regions_.size(), std::strerror(errno));
  }
  regions_.push_back(region);
  slices_.push_back({at, region->rkey});
  return seconds;
}

double SliceTable::remove_last() {
  int error = 0;
  const double seconds = seconds_of([&] { error = ibv_dereg_mr(regions_.back()); });
  if (error != 0) give_up("ibv_dereg_mr: {}", std::strerror(error));
  regions_.pop_back();
  slices_.pop_back();
  source_->remove_last();
  return seconds;
}

}  // namespace gdr::bench
