// What each GPU supports, according to the CUDA driver.
#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/probes.h"

namespace gdr::doctor {
namespace gpu_capability_check {

constexpr const char* kExplanation =
    "cuDeviceGetAttribute reports for each GPU whether it supports GPUDirect RDMA (attribute 116), "
    "whether its memory can be exported as a dma-buf (124), how a NIC's writes become visible "
    "(117) and how their order is kept (118). If 116 and 124 are both 0, no registration can work. "
    "This is so for GeForce boards: their driver switches it off, and nothing changes that. A "
    "process of its own asks, because a driver may hang or crash. If a stand-in replaces the "
    "driver, the check says so; it tells nothing about hardware.";

std::string number(std::int32_t value) {
  return value < 0 ? "not known to this driver" : std::to_string(value);
}

Finding judge(const CudaGpu& gpu) {
  const std::string subject = "GPU " + gpu.pci_address;
  Evidences evidence = {
      {"cuDeviceGetAttribute 116, GPU_DIRECT_RDMA_SUPPORTED", number(gpu.gpu_direct)},
      {"cuDeviceGetAttribute 124, DMA_BUF_SUPPORTED", number(gpu.dma_buf)},
      {"cuDeviceGetAttribute 117, FLUSH_WRITES_OPTIONS", number(gpu.flush_options)},
      {"cuDeviceGetAttribute 118, WRITES_ORDERING", number(gpu.writes_ordering)}};
  if (gpu.gpu_direct > 0 && gpu.dma_buf > 0) {
    return ok(subject, gpu.name + " has GPUDirect RDMA, and exports dma-bufs", std::move(evidence));
  }
  if (gpu.gpu_direct > 0) {
    return ok(subject, gpu.name + " has GPUDirect RDMA, without dma-buf", std::move(evidence));
  }
  if (gpu.dma_buf > 0) {
    return warn(subject, gpu.name + " exports dma-bufs but denies GPUDirect RDMA",
                std::move(evidence), "NCCL believes the latter and uses host memory.",
                {{}, to_do("upgrade the driver")});
  }
  if (gpu.gpu_direct < 0) {
    return unknown(subject, gpu.name + ": this driver is too old to say", std::move(evidence),
                   to_do("upgrade the driver"));
  }
  const bool consumer = gpu.name.find("GeForce") != std::string::npos;
  return fail(subject, gpu.name + " has no GPUDirect RDMA", std::move(evidence),
              "Its memory cannot be registered in any way.",
              {{},
               to_do(consumer ? "none: NVIDIA's driver denies it to GeForce boards; use a "
                                "data-centre or professional GPU"
                              : "install the open kernel module of a current driver; if that does "
                                "not help, the GPU does not support it")});
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  const Result<CudaFacts>& cuda = host.probes->cuda();
  if (!cuda) {
    return {fail("", cuda.error().message, {{"libcuda.so.1, cuInit", "no answer"}},
                 "No program can use the GPUs.",
                 {to_type("nvidia-smi\nsudo dmesg | grep -iE 'NVRM|Xid'"), {}})};
  }
  if (cuda->stand_in) {
    return {unknown("", "libcuda.so.1 is gdrkit's stand-in, not a real driver",
                    {{"libcuda.so.1", cuda->library}},
                    to_type("env -u LD_LIBRARY_PATH -u LD_PRELOAD gdr doctor"))};
  }
  if (!cuda->problem.empty()) {
    return {fail("", cuda->problem, {{"libcuda.so.1", cuda->library}},
                 "No program can use the GPUs.",
                 {to_type("nvidia-smi", "start a container with its GPUs (--gpus all)"),
                  to_do("install libcuda with the same release as the kernel module")})};
  }
  Findings findings;
  for (const CudaGpu& gpu : cuda->gpus) findings.push_back(judge(gpu));
  if (findings.empty()) {
    findings.push_back(unknown("", "CUDA lists no GPU", {{"libcuda.so.1", cuda->library}},
                               to_type("env -u CUDA_VISIBLE_DEVICES gdr doctor")));
  }
  return findings;
}

}  // namespace gpu_capability_check

const Check kGpuCapability{"gpu-capability",
                           Area::kGpu,
                           "GPUDirect RDMA according to the CUDA driver",
                           gpu_capability_check::kExplanation,
                           16,
                           Cost::kProbe,
                           gpu_capability_check::find};

}  // namespace gdr::doctor
