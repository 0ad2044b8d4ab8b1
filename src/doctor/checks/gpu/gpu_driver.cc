// G2: the GPU driver's release, and which of its two kernel modules is loaded.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "NVIDIA ships two kernel modules of each driver release: the open one (licence Dual MIT/GPL) "
    "and the proprietary one. Only the open one exports GPU memory as a dma-buf, the way of "
    "registration that NVIDIA recommends; with the proprietary one the peer-memory module is the "
    "only way. Read are /proc/driver/nvidia/version, whose text names the flavour, and "
    "/sys/module/nvidia/version. The open module runs on Turing and newer, from release 515 on.";

constexpr unsigned kFirstWithDmaBuf = 515;

Finding not_loaded(const Host& host, Evidences evidence) {
  Fix fix{to_type("sudo modprobe nvidia"),
          to_do("install NVIDIA's driver; its package loads it at boot")};
  if (host.files.exists("run/nvidia/driver")) {
    fix = {to_type("kubectl get pods -A | grep nvidia-driver", "the driver lives in a container"),
           {}};
  }
  return fail("", "the NVIDIA driver is not loaded", std::move(evidence),
              "No program can use the GPUs.", std::move(fix));
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  if (!shows(host.files, "sys/module") && !shows(host.files, "proc/driver")) {
    return {not_shown(host.files, "sys/module", "which driver is loaded")};
  }
  const Ways ways = find_ways(host);
  Evidences evidence = {read_line(host.files, "proc/driver/nvidia/version"),
                        read_line(host.files, "sys/module/nvidia/version")};
  if (!ways.driver_loaded) return {not_loaded(host, std::move(evidence))};
  const std::string release =
      ways.driver_version.empty() ? "driver of unknown release" : "driver " + ways.driver_version;
  if (ways.open_driver == Tri::kUnknown) {
    return {unknown("", release + "; open or proprietary is not shown", std::move(evidence))};
  }
  if (ways.open_driver == Tri::kYes && ways.driver_release.known() &&
      ways.driver_release.major < kFirstWithDmaBuf) {
    return {warn("", release + " is older than 515", std::move(evidence),
                 "It exports no dma-buf: registration takes the peer-memory module.",
                 {{}, to_do("install release 515 or newer")})};
  }
  if (ways.open_driver == Tri::kYes) {
    return {ok("", release + ", open kernel module", std::move(evidence))};
  }
  return {warn("", release + ", proprietary kernel module", std::move(evidence),
               "It exports no dma-buf: registration takes the peer-memory module.",
               {{},
                to_do("on Turing or newer, install the open kernel module of the same release "
                      "(package nvidia-open, or nvidia-driver-REL-open) and reboot")})};
}

}  // namespace

const Check kGpuDriver{"gpu-driver", Area::kGpu, "Release and flavour of the GPU driver",
                       kExplanation, 14,         Cost::kPassive,
                       find};

}  // namespace gdr::doctor
