// gdrdrv, the kernel module of GDRCopy, for those who need it.
#include <algorithm>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/checks/process/variables.h"

namespace gdr::doctor {
namespace gdrdrv_check {

constexpr const char* kExplanation =
    "GDRCopy lets the CPU read and write GPU memory directly, which is faster than CUDA for few "
    "bytes; a NIC does not need it. UCX (gdr_copy), NVSHMEM's IB transports and NCCL with "
    "NCCL_GDRCOPY_ENABLE=1 use it if it is installed. It needs the library libgdrapi.so, the "
    "kernel module gdrdrv and its device /dev/gdrdrv. Source: github.com/NVIDIA/gdrcopy. The check "
    "applies only if the library is installed or a variable asks for it.";

constexpr const char* kModule = "sys/module/gdrdrv";
constexpr const char* kDevice = "dev/gdrdrv";
constexpr const char* kFolders[] = {"usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu",
                                    "usr/lib64", "usr/lib", "usr/local/lib"};

std::optional<Evidence> find_library(const host::Files& files) {
  for (const char* folder : kFolders) {
    for (const std::string& name : files.entries(folder)) {
      if (name.rfind("libgdrapi.so", 0) == 0) {
        return Evidence{std::string("/") + folder, name};
      }
    }
  }
  return std::nullopt;
}

// Who asks for it, if anybody.
std::optional<Evidence> asked_for(const Host& host) {
  const std::string* nccl = value_of(host, "NCCL_GDRCOPY_ENABLE");
  if (nccl != nullptr && !nccl->empty() && *nccl != "0") {
    return Evidence{"NCCL_GDRCOPY_ENABLE", *nccl};
  }
  if (const std::string* ucx = value_of(host, "UCX_TLS"); ucx != nullptr && (*ucx)[0] != '^') {
    for (const std::string_view name : split(*ucx, ',')) {
      if (name == "gdr_copy") return Evidence{"UCX_TLS", *ucx};
    }
  }
  return find_library(host.files);
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  auto wanted = asked_for(host);
  const bool loaded = host.files.exists(kModule);
  if (!wanted && !loaded) return does_not_apply("nothing here asks for GDRCopy");
  if (!shows(host.files, "sys/module")) {
    return {not_shown(host.files, "sys/module", "whether gdrdrv is loaded")};
  }
  Evidences evidence = {read_line(host.files, std::string(kModule) + "/version")};
  if (wanted) evidence.push_back(*std::move(wanted));
  if (!loaded) {
    return {warn("", "GDRCopy is installed or requested, but gdrdrv is not loaded",
                 std::move(evidence),
                 "Small copies to and from the GPU take longer; NICs are not affected.",
                 {to_type("sudo modprobe gdrdrv"),
                  to_type("echo gdrdrv | sudo tee /etc/modules-load.d/gdrdrv.conf")})};
  }
  if (shows(host.files, "dev") && !host.files.exists(kDevice)) {
    evidence.push_back({std::string("/") + kDevice, "not there"});
    return {warn("", "gdrdrv is loaded, but /dev/gdrdrv is missing", std::move(evidence),
                 "Programs cannot use GDRCopy; small copies to and from the GPU take longer.",
                 {to_type("sudo mknod -m 666 /dev/gdrdrv c $(awk '$2 == \"gdrdrv\" {print $1}' "
                          "/proc/devices) 0"),
                  to_do("start a container with --device /dev/gdrdrv")})};
  }
  return {ok("", "gdrdrv is loaded", std::move(evidence))};
}

}  // namespace gdrdrv_check

const Check kGdrdrv{"gdrdrv",
                    Area::kRegistration,
                    "GDRCopy's kernel module, if it is needed",
                    gdrdrv_check::kExplanation,
                    88,
                    Cost::kPassive,
                    gdrdrv_check::find};

}  // namespace gdr::doctor
