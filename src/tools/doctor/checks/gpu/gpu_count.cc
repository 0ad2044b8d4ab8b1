// Does the driver manage every GPU on the bus?
#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/probes.h"

namespace gdr::doctor {
namespace gpu_count_check {

constexpr const char* kExplanation =
    "A GPU that has fallen off the bus, or that its driver could not start, is listed in sysfs but "
    "not by NVML and CUDA. The check compares the GPUs bound to nvidia with those that NVML lists, "
    "and with those that CUDA lists unless CUDA_VISIBLE_DEVICES hides some. If only CUDA lists a "
    "GPU, this container or sandbox hides its PCI function.";

Finding missing(const host::Gpu& gpu) {
  const std::string device = "/sys/bus/pci/devices/" + gpu.pci_address;
  return fail("GPU " + gpu.pci_address, "bound to nvidia, but NVML does not list it",
              {{device + "/driver", gpu.driver}, {"NVML", "not listed"}},
              "No program can use this GPU.",
              {to_type("sudo dmesg | grep -iE 'NVRM|Xid'\nsudo nvidia-smi -r",
                       "the second command resets the GPUs; if it fails, reboot"),
               {}});
}

bool lists(const NvmlFacts& nvml, const std::string& address) {
  return std::any_of(nvml.gpus.begin(), nvml.gpus.end(),
                     [&](const NvmlGpu& gpu) { return gpu.pci_address == address; });
}

// NVML rightly omits GPUs that the container does not have.
Findings in_container(std::size_t hidden) {
  return {ok("", std::to_string(hidden) + " of this host's GPUs are not in this container",
             {{"NVML", "not listed"}, {"/dev/nvidia*", "absent for them"}})};
}

unsigned device_nodes(const Host& host) {
  unsigned nodes = 0;
  for (const std::string& name : host.files.entries("dev")) {
    if (name.rfind("nvidia", 0) == 0 && name.size() > 6 &&
        name.find_first_not_of("0123456789", 6) == std::string::npos) {
      ++nodes;
    }
  }
  return nodes;
}

Findings find(const Host& host) {
  std::vector<const host::Gpu*> bound;
  for (const host::Gpu& gpu : host.inventory.gpus) {
    if (gpu.driver == "nvidia") bound.push_back(&gpu);
  }
  const Result<NvmlFacts>& nvml = host.probes->nvml();
  const bool answers = nvml && !nvml->gpus.empty();
  if (bound.empty()) {
    if (!answers) return does_not_apply("no GPU bound to nvidia");
    return {warn("",
                 "NVML lists " + std::to_string(nvml->gpus.size()) +
                     " GPUs, but the PCI bus shows none bound to nvidia",
                 {{"NVML", nvml->gpus.front().pci_address}},
                 "Their links and their distance to NICs are unknown.",
                 {to_do("run gdr on the host, or in a container with the host's /sys"), {}})};
  }
  if (!nvml) return {unknown("", nvml.error().message)};
  if (!answers) {
    return {fail(
        "", nvml->problem.empty() ? "NVML lists no GPU" : nvml->problem,
        {{"GPUs bound to nvidia", std::to_string(bound.size())}}, "No program can use the GPUs.",
        {to_type("nvidia-smi", "start a container with its GPUs (--gpus all)"),
         to_do("install libnvidia-ml and libcuda with the same release as the kernel module")})};
  }
  Findings findings;
  for (const host::Gpu* gpu : bound) {
    if (!lists(*nvml, gpu->pci_address)) findings.push_back(missing(*gpu));
  }
  if (findings.size() + device_nodes(host) == bound.size() && !findings.empty()) {
    return in_container(findings.size());
  }
  if (!findings.empty()) return findings;
  return {ok("", "NVML lists all " + std::to_string(bound.size()) + " GPUs bound to nvidia",
             {{"NVML, driver", nvml->driver_version}})};
}

}  // namespace gpu_count_check

const Check kGpuCount{"gpu-count",
                      Area::kGpu,
                      "The driver manages every GPU on the bus",
                      gpu_count_check::kExplanation,
                      12,
                      Cost::kProbe,
                      gpu_count_check::find};

}  // namespace gdr::doctor
