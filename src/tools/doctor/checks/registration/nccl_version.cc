// Releases of NCCL that do not find a loaded peer-memory module.
#include <algorithm>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace nccl_version_check {

constexpr const char* kExplanation =
    "NCCL up to 2.22.3 looks for peer memory only in /sys/kernel/mm/memory_peers, which kernels "
    "6.4 and later cannot create. It then prints 'GPU Direct RDMA Disabled' although "
    "nvidia_peermem is loaded and perftest works (NCCL issue 1676). NCCL 2.23 and later also look "
    "for /sys/module/nvidia_peermem. With dma-buf it does not matter, unless NCCL_DMABUF_ENABLE=0. "
    "The check looks for libnccl.so.2.* in the system's library folders, /usr/local, NCCL_HOME and "
    "LD_LIBRARY_PATH; it does not see a library inside a Python environment or a container.";

constexpr Release kFirstThatLooks{2, 23};
constexpr const char* kRegistry = "sys/kernel/mm/memory_peers";

std::vector<std::string> library_folders(const Host& host) {
  std::vector<std::string> folders = {"usr/lib/x86_64-linux-gnu",
                                      "usr/lib/aarch64-linux-gnu",
                                      "usr/lib64",
                                      "usr/lib",
                                      "usr/local/lib",
                                      "usr/local/cuda/lib64",
                                      "usr/local/nccl/lib",
                                      "opt/nccl/lib"};
  const auto add = [&](const std::string& folder) {
    // Out of a captured root leads nothing.
    if (folder.size() < 2 || folder[0] != '/' || folder.find("..") != std::string::npos) return;
    folders.push_back(folder.substr(1));
  };
  const auto of = [&](const char* name) {
    const auto found = host.environment.find(name);
    return found == host.environment.end() ? std::string() : found->second;
  };
  const std::string home = of("NCCL_HOME"), path = of("LD_LIBRARY_PATH");
  if (!home.empty()) add(home + "/lib");
  for (std::string_view folder : split(path, ':')) add(std::string(folder));
  return folders;
}

struct Library {
  std::string path, version;
};

std::vector<Library> find_libraries(const Host& host) {
  std::vector<Library> libraries;
  constexpr std::string_view kName = "libnccl.so.";
  for (const std::string& folder : library_folders(host)) {
    for (const std::string& name : host.files.entries(folder)) {
      if (name.rfind(kName, 0) != 0) continue;
      const std::string version = name.substr(kName.size());
      const std::string path = "/" + folder + "/" + name;
      const bool seen = std::any_of(libraries.begin(), libraries.end(),
                                    [&](const Library& other) { return other.path == path; });
      if (!seen && parse_release(version).known()) libraries.push_back({path, version});
    }
  }
  return libraries;
}

bool dma_buf_is_off(const Host& host) {
  const auto found = host.environment.find("NCCL_DMABUF_ENABLE");
  return found != host.environment.end() && found->second == "0";
}

Finding judge(const Host& host, const Ways& ways, const Library& library) {
  const Evidences evidence = {{library.path, library.version},
                              read_line(host.files, std::string(kRegistry) + "/nv_mem/version")};
  const std::string name = "NCCL " + library.version;
  const bool looks = !(parse_release(library.version) < kFirstThatLooks);
  const bool by_dma_buf = ways.dma_buf == Tri::kYes && !dma_buf_is_off(host);
  if (looks || by_dma_buf || host.files.exists(std::string(kRegistry) + "/nv_mem/version")) {
    return ok(library.path,
              name + (looks        ? " looks for nvidia_peermem"
                      : by_dma_buf ? " uses dma-buf here"
                                   : " finds the module in memory_peers"),
              evidence);
  }
  return warn(library.path, name + " does not look for /sys/module/nvidia_peermem", evidence,
              "It prints 'GPU Direct RDMA Disabled' and uses host memory, although registration "
              "works.",
              {{}, to_do("upgrade NCCL to 2.23 or newer")});
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  const std::vector<Library> libraries = find_libraries(host);
  if (libraries.empty()) return does_not_apply("no NCCL in the system's library folders");
  const Ways ways = find_ways(host);
  if (!ways.driver_loaded) return does_not_apply("the NVIDIA driver is not loaded");
  if (!ways.peer_memory && ways.dma_buf != Tri::kYes) {
    return does_not_apply("GPU memory cannot be registered here");
  }
  Findings findings;
  for (const Library& library : libraries) findings.push_back(judge(host, ways, library));
  return findings;
}

}  // namespace nccl_version_check

const Check kNcclVersion{"nccl-version",
                         Area::kRegistration,
                         "NCCL finds the peer-memory module",
                         nccl_version_check::kExplanation,
                         40,
                         Cost::kPassive,
                         nccl_version_check::find};

}  // namespace gdr::doctor
