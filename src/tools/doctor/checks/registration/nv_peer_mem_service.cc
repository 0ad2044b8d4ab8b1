// What the old package nv_peer_mem left behind: its configuration and its service.
#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace nv_peer_mem_service_check {

constexpr const char* kExplanation =
    "nv_peer_mem was a separate package until NVIDIA's driver included nvidia-peermem (470). It "
    "installs /etc/infiniband/nv_peer_mem.conf, whose ONBOOT=yes loads the module at boot, and a "
    "service /etc/init.d/nv_peer_mem; guides add /etc/modules-load.d/nv_peer_mem.conf. To load "
    "nvidia-peermem, disable that service and preferably uninstall the package (README of NVIDIA's "
    "driver, 'GPUDirect RDMA Peer Memory Client'; README of Mellanox/nv_peer_memory for the "
    "files). With an older driver nv_peer_mem is the only way, and its service is right.";

constexpr const char* kConfiguration = "etc/infiniband/nv_peer_mem.conf";
constexpr const char* kLoads[] = {"etc/modules-load.d/nv_peer_mem.conf"};
constexpr const char* kService = "etc/init.d/nv_peer_mem";
constexpr Release kFirstWithPeermem = {470, 0};

// "ONBOOT=yes"; that is also what its absence means.
bool on_boot(const host::Files& files) {
  for (const std::string& line : files.lines_with(kConfiguration, "ONBOOT")) {
    if (line.rfind("ONBOOT=", 0) == 0) return line.find("no") == std::string::npos;
  }
  return true;
}

bool names_module(const host::Files& files, const char* path) {
  const std::vector<std::string> lines = files.lines_with(path, "nv_peer_mem");
  return std::any_of(lines.begin(), lines.end(),
                     [](const std::string& line) { return line == "nv_peer_mem"; });
}

// What loads nv_peer_mem at boot.
Evidences loaders(const host::Files& files) {
  Evidences found;
  if (files.exists(kConfiguration) && on_boot(files)) {
    found.push_back({std::string("/") + kConfiguration, "loads nv_peer_mem at boot"});
  }
  for (const char* path : kLoads) {
    if (names_module(files, path)) {
      found.push_back({std::string("/") + path, "loads nv_peer_mem at boot"});
    }
  }
  return found;
}

Findings find(const Host& host) {
  const host::Files& files = host.files;
  if (host.inventory.gpus.empty()) return no_gpu();
  if (!shows(files, "etc")) return {not_shown(files, "etc", "what is loaded at boot")};
  const bool installed = files.exists(kConfiguration) || files.exists(kService);
  Evidences evidence = loaders(files);
  if (!installed && evidence.empty()) return does_not_apply("nv_peer_mem is not installed");
  if (evidence.empty()) {
    return {ok("", "nv_peer_mem is installed but not loaded at boot",
               {{std::string("/") + (files.exists(kConfiguration) ? kConfiguration : kService),
                 "there"}})};
  }
  const Ways ways = find_ways(host);
  if (!ways.driver_release.known()) {
    return {unknown(
        "",
        "nv_peer_mem is loaded at boot; cannot tell whether this driver includes nvidia-peermem",
        std::move(evidence), to_type("cat /proc/driver/nvidia/version"))};
  }
  evidence.push_back({"/proc/driver/nvidia/version", ways.driver_version});
  if (ways.driver_release < kFirstWithPeermem) {
    return {ok("", "nv_peer_mem is loaded at boot, as driver " + ways.driver_version + " needs it",
               std::move(evidence))};
  }
  return {
      warn("", "nv_peer_mem is loaded at boot, although this driver includes nvidia-peermem",
           std::move(evidence),
           "Only one of the two may be loaded: nv_peer_mem blocks nvidia-peermem, or both claim "
           "the same memory.",
           {to_type("sudo modprobe -r nv_peer_mem && sudo modprobe nvidia-peermem"),
            to_type("sudo systemctl disable --now nv_peer_mem",
                    "then remove the package nvidia-peer-memory (nvidia_peer_memory with rpm), and "
                    "/etc/modules-load.d/nv_peer_mem.conf")})};
}

}  // namespace nv_peer_mem_service_check

const Check kNvPeerMemService{"nv-peer-mem-service",
                              Area::kRegistration,
                              "Old package nv_peer_mem, loaded at boot",
                              nv_peer_mem_service_check::kExplanation,
                              23,
                              Cost::kPassive,
                              nv_peer_mem_service_check::find};

}  // namespace gdr::doctor
