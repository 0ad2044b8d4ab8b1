// BAR1 compared with the GPU's memory, and its free space, according to NVML.
#include "doctor/checks/all.h"
#include "doctor/checks/gpu/each_gpu.h"
#include "doctor/checks/gpu/window.h"
#include "text/format.h"

namespace gdr::doctor {
namespace gpu_bar1_space_check {

constexpr const char* kExplanation =
    "NVML reports the size of BAR1 and how much of it is free. The check warns if BAR1 is smaller "
    "than the GPU's memory, because then not all memory can be registered at one time. It fails if "
    "less than 2 MiB are free, the size of one registration. A data-centre GPU with a small BAR1 "
    "is in graphics mode; NVIDIA's displaymodeselector changes that.";

constexpr std::uint64_t kOneRegistration = 2 * kMebibyte;

std::uint64_t memory_of(Probes& probes, const std::string& address) {
  const Result<CudaFacts>& cuda = probes.cuda();
  if (!cuda) return 0;
  for (const CudaGpu& gpu : cuda->gpus) {
    if (gpu.pci_address == address) return gpu.memory;
  }
  return 0;
}

Finding judge(Probes& probes, const NvmlGpu& gpu) {
  const std::string subject = "GPU " + gpu.pci_address;
  const std::uint64_t memory = memory_of(probes, gpu.pci_address);
  const Evidence evidence{"nvmlDeviceGetBAR1MemoryInfo",
                          gpu.bar1_total == 0 ? "not told"
                                              : text::size_text(gpu.bar1_total) + ", " +
                                                    text::size_text(gpu.bar1_free) + " free"};
  if (gpu.bar1_total == 0) return unknown(subject, "NVML does not report BAR1", {evidence});
  if (gpu.bar1_free < kOneRegistration) {
    return fail(subject, "BAR1 is full: " + evidence.value, {evidence},
                "Nothing more can be registered.",
                {to_type("sudo fuser -v /dev/nvidia*",
                         "lists the programs that may hold registrations; stop them"),
                 {}});
  }
  if (gpu.bar1_total < memory) {
    return warn(subject,
                "BAR1 is smaller than the GPU's memory of " + text::size_text(memory) + ": " +
                    evidence.value,
                {evidence, {"cuDeviceTotalMem", text::size_text(memory)}},
                "Not all of the memory can be registered at one time.", larger_window());
  }
  return ok(subject, "BAR1 is " + evidence.value, {evidence});
}

Findings find(const Host& host) {
  return of_each_gpu(host, [&](const NvmlGpu& gpu) { return judge(*host.probes, gpu); });
}

}  // namespace gpu_bar1_space_check

const Check kGpuBar1Space{"gpu-bar1-space",
                          Area::kGpu,
                          "Room in BAR1 for registrations",
                          gpu_bar1_space_check::kExplanation,
                          33,
                          Cost::kProbe,
                          gpu_bar1_space_check::find};

}  // namespace gdr::doctor
