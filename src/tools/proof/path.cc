#include "proof/path.h"

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

void name_devices(const participants::Selection& selection, Path& path) {
  path.from_nic = selection.near.text();
  path.to_nic = selection.far.text();
  path.from_gpu = selection.near_gpu_text;
  path.gpu = selection.far_gpu_text;
}

std::string path_text(const Path& path) {
  std::string text = path.from_nic + " → " + path.to_nic;
  if (path.gpu.empty()) return text;
  if (path.has_two_gpus()) return text + ", " + path.from_gpu + " → " + path.gpu;
  return text + ", " + path.gpu;
}

std::string direction_text(const Path& path) {
  if (!path.has_two_gpus()) return direction_text(path.direction);
  return memory_of(path.direction.from, path.source_gpu()) + " → " +
         memory_of(path.direction.to, path.target_gpu());
}

}  // namespace gdr::proof
