// The GPU driver's release, and which of its two kernel modules is loaded.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"
#include "host/registration/driver_roots.h"

namespace gdr::doctor {
namespace gpu_driver_check {

constexpr const char* kExplanation =
    "NVIDIA ships two kernel modules with each driver release: the open one (licence Dual MIT/GPL) "
    "and the proprietary one. Only the open one exports GPU memory as a dma-buf, the way of "
    "registration that NVIDIA recommends; with the proprietary one the peer-memory module is the "
    "only way. The check reads /proc/driver/nvidia/version, which names the flavour, and "
    "/sys/module/nvidia/version. The open module exists since release 515 and supports Turing and "
    "newer GPUs; Volta and older need the proprietary one.";

constexpr unsigned kFirstWithDmaBuf = 515;

Finding not_loaded(const Host& host, Evidences evidence) {
  Fix fix{to_type("sudo modprobe nvidia"),
          to_do("install the NVIDIA driver; its package loads it at boot")};
  if (host.files.exists(host::kOperatorsDriverRoot)) {
    fix = {to_type("kubectl get pods -A | grep nvidia-driver", "the driver is in a container"), {}};
  }
  return fail("", "the NVIDIA driver is not loaded", std::move(evidence),
              "No program can use the GPUs.", std::move(fix));
}

// Recommends the open module only if it helps: not for GPUs before Turing, and not if peer memory
// works.
Finding judge_release(const Ways& ways, const std::string& release, Evidences evidence) {
  const host::RegistrationFacts& facts = ways.plan.read.facts;
  const bool open = facts.flavour == host::Flavour::kOpen;
  const std::string summary =
      release + (open ? ", open kernel module" : ", proprietary kernel module");
  const bool old = facts.driver.known() && facts.driver.major < kFirstWithDmaBuf;
  if (open && !old) return ok("", summary, std::move(evidence));
  const std::string needs = "It exports no dma-buf, so registration needs the peer-memory module.";
  if (facts.gpu == host::Generation::kBeforeTuring) {
    return ok("",
              summary + ", the one for GPUs before Turing; registration needs " +
                  host::name_of(ways.plan.ways.module),
              std::move(evidence));
  }
  return warn("", old ? release + " is older than 515" : summary, std::move(evidence), needs,
              {{}, to_do(ways.plan.ways.remedy)});
}

Findings find(const Host& host) {
  const Ways ways = find_ways(host);
  // One that is loaded is judged: its GPU may have left the bus.
  if (host.inventory.gpus.empty() && !ways.driver_loaded) return no_gpu();
  if (!shows(host.files, "sys/module") && !shows(host.files, "proc/driver")) {
    return {not_shown(host.files, "sys/module", "which driver is loaded")};
  }
  Evidences evidence = {read_line(host.files, "proc/driver/nvidia/version"),
                        read_line(host.files, "sys/module/nvidia/version")};
  if (!ways.driver_loaded) return {not_loaded(host, std::move(evidence))};
  const std::string release =
      ways.driver_version.empty() ? "driver of unknown release" : "driver " + ways.driver_version;
  if (ways.open_driver == Tri::kUnknown) {
    return {unknown("", release + "; cannot tell whether it is open or proprietary",
                    std::move(evidence))};
  }
  return {judge_release(ways, release, std::move(evidence))};
}

}  // namespace gpu_driver_check

const Check kGpuDriver{"gpu-driver",
                       Area::kGpu,
                       "Release and flavour of the GPU driver",
                       gpu_driver_check::kExplanation,
                       14,
                       Cost::kPassive,
                       gpu_driver_check::find};

}  // namespace gdr::doctor
