#include "doctor/environment.h"

#include <unistd.h>

#include <string_view>

#include "base/environment.h"

namespace gdr::doctor {
namespace {

void add(std::string_view entry, std::map<std::string, std::string>& found) {
  const auto equals = entry.find('=');
  if (equals == std::string_view::npos) return;
  const std::string name(entry.substr(0, equals));
  if (is_relevant_variable(name)) found.emplace(name, entry.substr(equals + 1));
}

}  // namespace

bool is_relevant_variable(const std::string& name) {
  for (const char* prefix : {"NCCL_", "UCX_", "NVSHMEM_"}) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  // Mooncake's variables by name, because others are passwords.
  for (const char* other :
       {"CUDA_VISIBLE_DEVICES", "KUBERNETES_PORT", "LD_LIBRARY_PATH", "LD_PRELOAD",
        kDriverRootVariable, "MC_FORCE_TCP", "MC_FORCE_MNNVL", "MC_GID_INDEX", "MC_IB_PORT",
        "MC_MTU", "MC_MS_FILTERS", "MC_MS_AUTO_DISC", "WITH_NVIDIA_PEERMEM"}) {
    if (name == other) return true;
  }
  return false;
}

std::map<std::string, std::string> read_environment(const host::Files& files) {
  std::map<std::string, std::string> found;
  if (!files.is_live()) {
    const std::string text = files.text("proc/self/environ");
    for (std::string_view entry : split(text, '\0')) add(entry, found);
    return found;
  }
  for (char** entry = environ; *entry != nullptr; ++entry) add(*entry, found);
  return found;
}

}  // namespace gdr::doctor
