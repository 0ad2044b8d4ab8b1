#include "proof/path.h"

#include <fmt/format.h>

namespace gdr::proof {
namespace {

std::string memory_of(MemoryKind kind, const std::string& gpu) {
  if (!is_device(kind)) return std::string(memory_text(kind));
  return gpu + (kind == MemoryKind::kDeviceVmm ? " VMM" : "");
}

}  // namespace

std::string Path::source_gpu() const {
  if (!is_device(direction.from)) return {};
  return fetched || from_gpu.empty() ? gpu : from_gpu;
}

std::string Path::target_gpu() const {
  if (!is_device(direction.to)) return {};
  return fetched && !from_gpu.empty() ? from_gpu : gpu;
}

std::string of_host(const std::string& what, const std::string& host) {
  return host.empty() ? what : what + " of " + host;
}

void name_devices(const participants::Selection& selection, Path& path) {
  path.from_nic = selection.near.text();
  path.to_nic = selection.far.text();
  path.from_gpu = selection.near_gpu_text;
  path.gpu = selection.far_gpu_text;
  path.from_host = selection.near_host;
  path.to_host = selection.far_host;
}

std::string ports_text(const Path& path) {
  return of_host(path.from_nic, path.from_host) + " → " + of_host(path.to_nic, path.to_host);
}

std::string path_text(const Path& path) {
  if (path.has_two_hosts()) {
    const auto end = [](const std::string& nic, const std::string& gpu, const std::string& host) {
      return of_host(nic + (gpu.empty() ? "" : " and " + gpu), host);
    };
    return end(path.from_nic, path.from_gpu, path.from_host) + " → " +
           end(path.to_nic, path.gpu, path.to_host);
  }
  std::string text = path.from_nic + " → " + path.to_nic;
  if (path.gpu.empty()) return text;
  if (path.has_two_gpus()) return text + ", " + path.from_gpu + " → " + path.gpu;
  return text + ", " + path.gpu;
}

std::string direction_text(const Path& path) {
  if (path.has_two_hosts() && path.fetched) {
    return fmt::format("{} ← {}", memory_text(path.direction.to), memory_text(path.direction.from));
  }
  if (path.has_two_hosts() || !path.has_two_gpus()) return direction_text(path.direction);
  return memory_of(path.direction.from, path.source_gpu()) + " → " +
         memory_of(path.direction.to, path.target_gpu());
}

}  // namespace gdr::proof
