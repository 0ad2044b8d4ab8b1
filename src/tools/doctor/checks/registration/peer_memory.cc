// Which peer-memory modules are loaded.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace peer_memory_check {

constexpr const char* kExplanation =
    "A peer-memory module tells the RDMA stack which addresses belong to a GPU. NVIDIA's driver "
    "includes nvidia_peermem; the older nv_peer_mem was a separate package, and only one of the "
    "two may be loaded. gdrkit's own module of this name (gdr peermem) serves every driver. The "
    "check reads their versions in /sys/module, the users of ib_core, and "
    "/sys/kernel/mm/memory_peers, where some RDMA stacks list their peer-memory clients. A loaded "
    "module that uses neither ib_core nor ib_uverbs was built without the RDMA stack's symbols: it "
    "does nothing. Drivers before 470 do not include nvidia_peermem. The driver's own module must "
    "have the same release as the GPU driver.";

constexpr const char* kModule = "sys/module/nvidia_peermem";
constexpr const char* kLegacy = "sys/module/nv_peer_mem";
// The interface is in one of the two.
constexpr const char* kHolders[] = {"sys/module/ib_core/holders", "sys/module/ib_uverbs/holders"};

Findings not_loaded(const Ways& ways, Evidences evidence) {
  const bool no_interface = ways.plan.ways.peer_memory == Tri::kNo;
  if (no_interface) {
    evidence.insert(evidence.end(), ways.evidence.begin(), ways.evidence.end());
  }
  const std::string state =
      no_interface ? ways.peer_memory_text() : "no peer-memory module is loaded";
  if (ways.dma_buf == Tri::kYes) {
    return {ok("", state + ", and none is needed: dma-buf", std::move(evidence))};
  }
  if (ways.dma_buf == Tri::kUnknown) return {unknown("", state, std::move(evidence))};
  return does_not_apply("no module is loaded; registration-path says why");
}

// Whether it was loaded without the interface. Where the RDMA stack is built into the kernel, it
// has no holders.
bool holds_nothing(const host::Files& files, Evidences& evidence) {
  bool shown = false;
  for (const char* folder : kHolders) {
    shown |= files.exists(folder);
    for (const std::string& name : files.entries(folder)) {
      if (name == "nvidia_peermem" || name == "nv_peer_mem") return false;
    }
  }
  if (shown)
    evidence.push_back({std::string("/") + kHolders[0], "nvidia_peermem is not among them"});
  return shown;
}

Findings find(const Host& host) {
  const host::Files& files = host.files;
  if (host.inventory.gpus.empty()) return no_gpu();
  if (!shows(files, "sys/module")) {
    return {not_shown(files, "sys/module", "which modules are loaded")};
  }
  const Ways ways = find_ways(host);
  if (!ways.driver_loaded) return does_not_apply("the NVIDIA driver is not loaded");
  const bool current = files.exists(kModule), legacy = files.exists(kLegacy);
  Evidences evidence = {read_line(files, std::string(kModule) + "/version"),
                        read_line(files, std::string(kLegacy) + "/version"),
                        read_line(files, "sys/kernel/mm/memory_peers/nv_mem/version")};
  if (!current && !legacy && !ways.peer_memory) return not_loaded(ways, std::move(evidence));
  if (current && legacy) {
    return {warn("", "nvidia_peermem and nv_peer_mem are both loaded", std::move(evidence),
                 "Both claim the same addresses; only one may be loaded.",
                 {to_type("sudo modprobe -r nv_peer_mem"),
                  to_do("remove the package nvidia-peer-memory (nv_peer_mem)")})};
  }
  const std::string version = files.line(std::string(kModule) + "/version");
  const bool is_drivers_own = !version.starts_with("gdrkit-");
  if (current && is_drivers_own && !version.empty() && !ways.driver_version.empty() &&
      version != ways.driver_version) {
    return {fail("", "nvidia_peermem " + version + " beside driver " + ways.driver_version,
                 std::move(evidence),
                 "A module from a different build cannot pin this driver's memory.",
                 {to_type("sudo modprobe -r nvidia_peermem && sudo modprobe nvidia-peermem"),
                  to_do("reinstall the driver, and remove old modules below /lib/modules")})};
  }
  if (current && holds_nothing(files, evidence)) {
    return {warn("", "nvidia_peermem is loaded but does not use ib_core", std::move(evidence),
                 "It was built without the RDMA stack's symbols, so it does nothing.",
                 {{}, to_do("reinstall the GPU driver after the RDMA stack")})};
  }
  return {ok("",
             (current || !legacy ? "nvidia_peermem " + version : std::string("nv_peer_mem")) +
                 " is loaded",
             std::move(evidence))};
}

}  // namespace peer_memory_check

const Check kPeerMemory{"peer-memory",
                        Area::kRegistration,
                        "Peer-memory modules",
                        peer_memory_check::kExplanation,
                        22,
                        Cost::kPassive,
                        peer_memory_check::find};

}  // namespace gdr::doctor
