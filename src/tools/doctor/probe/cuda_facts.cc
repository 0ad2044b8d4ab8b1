#include "doctor/probe/cuda_facts.h"

#include <filesystem>

#include "cuda/driver.h"
#include "participants/gpu.h"
#include "participants/libraries.h"
#include "participants/memory.h"

namespace gdr::doctor {
namespace {

constexpr std::uint64_t kTrialSize = 2 << 20;

std::int32_t attribute(const cuda::Driver& driver, cuda::CUdevice device,
                       cuda::CUdevice_attribute which) {
  int value = 0;
  return driver.device_get_attribute(&value, which, device) == cuda::CUDA_SUCCESS ? value : -1;
}

CudaGpu ask_gpu(const cuda::Driver& driver, int ordinal) {
  CudaGpu gpu;
  gpu.ordinal = ordinal;
  cuda::CUdevice device = 0;
  if (driver.device_get(&device, ordinal)) return gpu;
  char name[256] = "";
  if (!driver.device_get_name(name, sizeof name, device)) gpu.name = name;
  gpu.pci_address = participants::pci_address_of(driver, device);
  std::size_t memory = 0;
  if (!driver.device_total_mem(&memory, device)) gpu.memory = memory;
  gpu.gpu_direct = attribute(driver, device, cuda::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
  gpu.dma_buf = attribute(driver, device, cuda::CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
  gpu.flush_options =
      attribute(driver, device, cuda::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
  gpu.writes_ordering =
      attribute(driver, device, cuda::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING);
  return gpu;
}

ExportTrial try_export(const std::string& library, int ordinal) {
  ExportTrial trial;
  trial.ordinal = ordinal;
  trial.size = kTrialSize;
  Result<participants::Gpu> gpu = participants::open_gpu(library, ordinal);
  if (!gpu) {
    trial.problem = gpu.error().message;
    return trial;
  }
  trial.pci_address = participants::pci_address_of(*gpu->driver, gpu->device);
  Result<participants::Memory> memory =
      participants::Memory::allocate(participants::MemoryKind::kDevice, kTrialSize, *gpu);
  if (!memory) {
    trial.problem = memory.error().message;
    return trial;
  }
  trial.allocated = true;
  Result<UniqueFd> descriptor = memory->export_dmabuf();
  trial.exported = static_cast<bool>(descriptor);
  if (!descriptor) trial.problem = descriptor.error().message;
  return trial;
}

}  // namespace

bool is_stand_in(const std::string& path) {
  std::error_code ignored;
  for (const std::string& own : {participants::soft_verbs_path(), participants::soft_cuda_path()}) {
    if (std::filesystem::equivalent(path, own, ignored)) return true;
  }
  // A stand-in of another installation.
  const std::string real = std::filesystem::weakly_canonical(path, ignored).string();
  return real.find("/gdrkit/soft-") != std::string::npos;
}

CudaFacts ask_cuda(const std::string& library) {
  CudaFacts facts;
  Result<const cuda::Driver*> loaded = cuda::Driver::load(library.c_str());
  if (!loaded) {
    facts.problem = loaded.error().message;
    return facts;
  }
  const cuda::Driver& driver = **loaded;
  facts.library = driver.path();
  facts.stand_in = is_stand_in(driver.path());
  if (facts.stand_in) return facts;
  int version = 0;
  if (!driver.driver_get_version(&version)) facts.version = version;
  int count = 0;
  if (const auto result = driver.init(0)) {
    facts.result = result;
    facts.problem = "cuInit: " + driver.describe(result);
  } else if (const auto counted = driver.device_get_count(&count)) {
    facts.result = counted;
    facts.problem = "cuDeviceGetCount: " + driver.describe(counted);
  }
  for (int i = 0; i < count; ++i) facts.gpus.push_back(ask_gpu(driver, i));
  return facts;
}

ExportTrials try_exports(const std::string& library) {
  ExportTrials trials;
  Result<const cuda::Driver*> loaded = cuda::Driver::load(library.c_str());
  if (!loaded || is_stand_in((*loaded)->path())) return trials;
  int count = 0;
  if ((*loaded)->init(0) || (*loaded)->device_get_count(&count)) return trials;
  for (int i = 0; i < count; ++i) trials.gpus.push_back(try_export(library, i));
  return trials;
}

}  // namespace gdr::doctor
