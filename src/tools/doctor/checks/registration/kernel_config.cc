// How the kernel was configured: peer-to-peer DMA and dma-buf.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "CONFIG_PCI_P2PDMA is the kernel's own support of transfers between PCI devices. Whether "
    "dma-buf with NVIDIA's open driver needs it is not settled: siderolabs/talos issue 12021 says "
    "that it does, NVIDIA's list of requirements does not name it, and the sources of driver 595 "
    "do not use it. So where it is off this is 'unknown', and trying tells. "
    "CONFIG_DMABUF_MOVE_NOTIFY decides whether AMD's amdgpu keeps exported memory on the GPU "
    "(instinct.docs.amd.com, 'Input-Output Memory Management Unit'); NVIDIA's memory stays "
    "where it is with either, so it is shown and not judged. Read are /boot/config-RELEASE and "
    "/lib/modules/RELEASE/config; /proc/config.gz is compressed and is not.";

enum class Setting { kAbsent, kOff, kOn };

// Only where a file is that of this kernel.
std::vector<std::string> files_of(const std::string& kernel) {
  return {"boot/config-" + kernel, "lib/modules/" + kernel + "/config",
          "usr/lib/modules/" + kernel + "/config"};
}

// "CONFIG_PCI_P2PDMA=y", "# CONFIG_PCI_P2PDMA is not set"
Setting setting_in(const host::Files& files, const std::string& path, const std::string& name) {
  for (const std::string& line : files.lines_with(path, name)) {
    if (line == name + "=y" || line == name + "=m") return Setting::kOn;
    if (line == "# " + name + " is not set") return Setting::kOff;
  }
  return Setting::kAbsent;
}

Evidence evidence_of(const std::string& path, const std::string& name, Setting setting) {
  return {"/" + path + ", " + name, setting == Setting::kOn ? "on" : "not set"};
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  const Ways ways = find_ways(host);
  if (ways.dma_buf == Tri::kNo) return does_not_apply("dma-buf is no way here");
  const std::string& kernel = ways.kernel;
  // A component of a path.
  if (kernel.empty() || kernel.find('/') != std::string::npos) {
    return {not_shown(host.files, "proc/sys/kernel/osrelease", "which kernel this is")};
  }
  constexpr const char* kPeerToPeer = "CONFIG_PCI_P2PDMA";
  constexpr const char* kMoveNotify = "CONFIG_DMABUF_MOVE_NOTIFY";
  for (const std::string& path : files_of(kernel)) {
    if (!host.files.exists(path)) continue;
    const Setting peer = setting_in(host.files, path, kPeerToPeer);
    Evidences evidence = {
        evidence_of(path, kPeerToPeer, peer),
        evidence_of(path, kMoveNotify, setting_in(host.files, path, kMoveNotify))};
    if (peer == Setting::kOn) return {ok("", "CONFIG_PCI_P2PDMA is on", std::move(evidence))};
    return {unknown("", "CONFIG_PCI_P2PDMA is not set; whether dma-buf needs it here is not known",
                    std::move(evidence),
                    to_type("gdr prove --registration dma-buf --require-hardware"))};
  }
  return {unknown("", "how this kernel was configured is not shown",
                  {{"/boot/config-" + kernel, "not there, or not readable"}},
                  to_type("zgrep -e PCI_P2PDMA -e DMABUF_MOVE_NOTIFY /proc/config.gz"))};
}

}  // namespace

const Check kKernelConfig{"kernel-config",
                          Area::kRegistration,
                          "How the kernel was configured for dma-buf between devices",
                          kExplanation,
                          29,
                          Cost::kPassive,
                          find};

}  // namespace gdr::doctor
