// How the kernel was configured: peer-to-peer DMA and dma-buf.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace kernel_config_check {

constexpr const char* kExplanation =
    "CONFIG_PCI_P2PDMA is the kernel's support for transfers between PCI devices. It is not "
    "settled whether dma-buf with NVIDIA's open driver needs it: siderolabs/talos issue 12021 says "
    "so, NVIDIA's requirements do not mention it, and the sources of driver 595 do not use it. So "
    "if it is off, the result is 'unknown': try it. CONFIG_DMABUF_MOVE_NOTIFY decides whether "
    "AMD's amdgpu keeps exported memory on the GPU (instinct.docs.amd.com, 'Input-Output Memory "
    "Management Unit'); NVIDIA's memory stays on the GPU with either setting, so it is shown but "
    "not judged. The check reads /boot/config-RELEASE, /lib/modules/RELEASE/config or "
    "/proc/config.gz.";

enum class Setting { kAbsent, kOff, kOn };

constexpr const char* kPacked = "proc/config.gz";

// Only where a file is that of this kernel. The last one takes a library to unpack it.
std::vector<std::string> files_of(const std::string& kernel) {
  return {"boot/config-" + kernel, "lib/modules/" + kernel + "/config",
          "usr/lib/modules/" + kernel + "/config", kPacked};
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
  if (ways.dma_buf == Tri::kNo) return does_not_apply("dma-buf is not possible here");
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
    const Setting notify = setting_in(host.files, path, kMoveNotify);
    const bool unreadable = peer == Setting::kAbsent && notify == Setting::kAbsent;
    if (path == kPacked && unreadable) continue;
    Evidences evidence = {evidence_of(path, kPeerToPeer, peer),
                          evidence_of(path, kMoveNotify, notify)};
    if (peer == Setting::kOn) return {ok("", "CONFIG_PCI_P2PDMA is on", std::move(evidence))};
    return {unknown("", "CONFIG_PCI_P2PDMA is not set; dma-buf may need it", std::move(evidence),
                    to_type("gdr prove --registration dma-buf --require-hardware"))};
  }
  return {unknown("", "cannot see the configuration of this kernel",
                  {{"/boot/config-" + kernel + ", /proc/config.gz", "missing or unreadable"}},
                  to_type("zgrep -e PCI_P2PDMA -e DMABUF_MOVE_NOTIFY /proc/config.gz"))};
}

}  // namespace kernel_config_check

const Check kKernelConfig{"kernel-config",
                          Area::kRegistration,
                          "Kernel configuration for dma-buf between devices",
                          kernel_config_check::kExplanation,
                          29,
                          Cost::kPassive,
                          kernel_config_check::find};

}  // namespace gdr::doctor
