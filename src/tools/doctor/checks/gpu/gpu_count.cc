// G1, asked of the driver: has it taken every GPU that is on the bus?
#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/probes.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "A GPU that has fallen off the bus, or that its driver could not start, stands in sysfs and is "
    "missing in NVML and CUDA. Compared are the GPUs bound to nvidia with those that NVML lists, "
    "and with those that CUDA lists unless CUDA_VISIBLE_DEVICES hides some. A GPU that only CUDA "
    "shows is one whose PCI function this container or sandbox hides.";

Finding missing(const host::Gpu& gpu) {
  const std::string device = "/sys/bus/pci/devices/" + gpu.pci_address;
  return fail("GPU " + gpu.pci_address, "bound to nvidia, and NVML does not list it",
              {{device + "/driver", gpu.driver}, {"NVML", "not listed"}},
              "No program can use this GPU.",
              {to_type("sudo dmesg | grep -iE 'NVRM|Xid'\nsudo nvidia-smi -r",
                       "the second resets the GPUs; where it fails, reboot"),
               {}});
}

bool lists(const NvmlFacts& nvml, const std::string& address) {
  return std::any_of(nvml.gpus.begin(), nvml.gpus.end(),
                     [&](const NvmlGpu& gpu) { return gpu.pci_address == address; });
}

// Of GPUs that a container was not given NVML is silent, and rightly.
Findings in_container(std::size_t hidden) {
  return {ok("", std::to_string(hidden) + " of this host's GPUs are not given to this container",
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
                     " GPUs, and the PCI bus shows none bound to nvidia",
                 {{"NVML", nvml->gpus.front().pci_address}},
                 "Their links and their distance to NICs cannot be judged.",
                 {to_do("run gdr on the host, or in a container that has the host's /sys"), {}})};
  }
  if (!nvml) return {unknown("", nvml.error().message)};
  if (!answers) {
    return {fail("", nvml->problem.empty() ? "NVML lists no GPU" : nvml->problem,
                 {{"GPUs bound to nvidia", std::to_string(bound.size())}},
                 "No program can use the GPUs.",
                 {to_type("nvidia-smi", "a container must be started with its GPUs (--gpus all)"),
                  to_do("install libnvidia-ml and libcuda of the same release as the kernel "
                        "module")})};
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

}  // namespace

const Check kGpuCount{"gpu-count",  Area::kGpu, "The driver has taken every GPU on the bus",
                      kExplanation, 12,         Cost::kProbe,
                      find};

}  // namespace gdr::doctor
