// P3: why the peer-memory module does not load.
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"
#include "doctor/kernel_log.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "modprobe nvidia-peermem says 'Invalid argument' and no more where the module was built "
    "without the RDMA stack's symbols. This check looks for the causes one after the other: the "
    "kernel has no ib_register_peer_memory_client (in /proc/kallsyms and modules.symbols), so "
    "there is nothing to register with; modules.dep has the module without ib_core, so the driver "
    "was built before the RDMA stack; the kernel's log has 'disagrees about version of symbol', so "
    "the RDMA stack changed under it; the driver lives in a container, so the host's modprobe does "
    "not find it; the kernel takes signed modules only. Where dma-bufs work, none of this matters.";

constexpr const char* kDriverContainer = "run/nvidia/driver";
constexpr const char* kLockdown = "sys/kernel/security/lockdown";
constexpr const char* kConsequence = "nvidia-peermem cannot be loaded.";

Fix rebuild(const Ways& ways) {
  const std::string version = ways.driver_version.empty() ? "VERSION" : ways.driver_version;
  return {to_type("sudo dkms install --force nvidia/" + version + "\nsudo modprobe nvidia-peermem"),
          to_do("without DKMS install the GPU driver again, after every change of the RDMA stack")};
}

Findings no_interface(const Ways& ways) {
  return {fail("", "this kernel has no peer-memory interface: no ib_register_peer_memory_client",
               ways.evidence, "No peer-memory module can register with it.",
               {{},
                to_do("use dma-buf (the open kernel module of the GPU driver, kernel 5.12 or "
                      "newer), or install DOCA/MLNX_OFED, then the GPU driver again")})};
}

// The module was loaded, tried, and refused: the kernel says why.
std::optional<Finding> from_log(const Host& host, const Ways& ways) {
  for (const std::string& line : log_lines(host, "nvidia_peermem")) {
    if (line.find("disagrees about version of symbol") != std::string::npos ||
        line.find("Unknown symbol") != std::string::npos) {
      return fail("", "nvidia_peermem was built for another RDMA stack", {{"kernel log", line}},
                  kConsequence, rebuild(ways));
    }
    if (line.find("key was rejected") != std::string::npos ||
        line.find("module verification failed") != std::string::npos ||
        line.find("Required key not available") != std::string::npos) {
      return fail("", "nvidia_peermem has no signature that this kernel takes",
                  {{"kernel log", line}}, kConsequence, {{}, sign_the_module()});
    }
  }
  return std::nullopt;
}

std::optional<Finding> from_dependencies(const Host& host, const Ways& ways) {
  const std::string file = modules_file(host, "modules.dep");
  if (file.empty() || !host.files.exists(file)) return std::nullopt;
  const std::vector<std::string> lines = host.files.lines_with(file, "peermem");
  for (const std::string& line : lines) {
    const auto colon = line.find(':');
    if (colon == std::string::npos ||
        line.substr(0, colon).find("nvidia-peermem") == std::string::npos) {
      continue;
    }
    if (line.find("ib_core", colon) != std::string::npos) return std::nullopt;
    return fail("", "nvidia-peermem was built without the RDMA stack", {{"/" + file, line}},
                "It loads with 'Invalid argument', and registers no client.", rebuild(ways));
  }
  if (host.files.exists(kDriverContainer)) {
    return fail("",
                "the driver lives in a container: this host's modprobe does not find its module",
                {{"/" + file, "no nvidia-peermem"}, {std::string("/") + kDriverContainer, "there"}},
                kConsequence,
                {to_type("sudo chroot /run/nvidia/driver modprobe nvidia-peermem",
                         "where that says 'not found', recreate the driver pod"),
                 to_do("set driver.rdma.enabled=true for the GPU operator")});
  }
  return fail(
      "", "nvidia-peermem is not installed for this kernel", {{"/" + file, "no nvidia-peermem"}},
      kConsequence,
      {{}, to_do("install the kernel modules of the GPU driver for kernel " + ways.kernel)});
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  const Ways ways = find_ways(host);
  if (!ways.driver_loaded) return does_not_apply("the NVIDIA driver is not loaded");
  if (ways.peer_memory) return does_not_apply("a peer-memory module is loaded");
  if (ways.dma_buf != Tri::kNo) return does_not_apply("dma-buf may serve in its place");
  if (ways.peer_interface == Tri::kNo) return no_interface(ways);
  if (auto found = from_log(host, ways)) return {*std::move(found)};
  if (auto found = from_dependencies(host, ways)) return {*std::move(found)};
  const std::string lockdown = host.files.line(kLockdown);
  if (lockdown.find("[integrity]") != std::string::npos ||
      lockdown.find("[confidentiality]") != std::string::npos) {
    return {warn("", "the kernel is locked down: it takes signed modules only",
                 {{std::string("/") + kLockdown, lockdown}},
                 "nvidia-peermem loads only where it is signed.", {{}, sign_the_module()})};
  }
  if (ways.peer_interface == Tri::kUnknown) {
    return {unknown("", "whether the module can load is not known: ib_core is not loaded",
                    ways.evidence,
                    to_type("sudo modprobe ib_core\ngdr doctor --only peer-memory-loading"))};
  }
  Evidences evidence = ways.evidence;
  if (!host.kernel_log) evidence.push_back({"kernel log", "not permitted, or not captured"});
  return {ok("", "nothing speaks against loading nvidia-peermem", std::move(evidence))};
}

}  // namespace

const Check kPeerMemoryLoading{"peer-memory-loading",
                               Area::kRegistration,
                               "Why the peer-memory module does not load",
                               kExplanation,
                               19,
                               Cost::kPassive,
                               find};

}  // namespace gdr::doctor
