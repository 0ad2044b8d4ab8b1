#include "host/registration/driver_roots.h"

#include <ctype.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/environment.h"
#include "host/plain_path.h"
#include "host/registration/facts.h"

namespace gdr::host {
namespace {

// A Kubernetes node has hundreds of mounts, and a capture may claim any number.
constexpr std::size_t kMostLooked = 64;

// The fifth field of a line of mountinfo, with its spaces and such as \040.
std::string mount_point(std::string_view line) {
  const auto fields = split(line, ' ');
  return fields.size() > 4 ? std::string(fields[4]) : std::string();
}

// Names that a driver's root has: NVIDIA's own folders, and the roots of containers as the runtimes
// mount them. Others hold data, and a host has too many of them to look into each.
bool may_be_driver_root(const std::string& path) {
  for (const char* part : {"nvidia", "/rootfs", "/merged", "driver"}) {
    if (path.find(part) != std::string::npos) return path.rfind("/proc/", 0) != 0;
  }
  return false;
}

std::vector<std::string> mounted_roots(const Files& files) {
  std::vector<std::string> roots;
  for (const std::string& line : files.lines_with("proc/self/mountinfo", " - ")) {
    const std::string place = mount_point(line);
    if (roots.size() == kMostLooked) break;
    if (place.size() < 2 || !is_plain_path(place) || !may_be_driver_root(place)) continue;
    roots.push_back(place.substr(1));
  }
  // Named after NVIDIA before the roots of containers that may be anybody's.
  std::stable_partition(roots.begin(), roots.end(), [](const std::string& root) {
    return root.find("nvidia") != std::string::npos;
  });
  return roots;
}

// Whether `root` holds the driver that is loaded, by the release in the name of what every package
// of the driver brings; unknown where none of it is there.
Tri holds_release(const Files& files, const std::string& root, const std::string& release) {
  const std::string base = root.empty() ? "" : root + "/";
  Tri answer = Tri::kUnknown;
  const auto look = [&](const std::string& folder, std::string_view prefix) {
    for (const std::string& name : files.entries(base + folder)) {
      if (name.rfind(prefix, 0) != 0) continue;
      const std::string found = name.substr(prefix.size());
      if (found.empty() || isdigit(static_cast<unsigned char>(found[0])) == 0 ||
          found.find('.') == std::string::npos) {
        continue;
      }
      if (found == release) return true;
      answer = Tri::kNo;
    }
    return false;
  };
  const bool same = look("usr/src", "nvidia-") || look("lib/firmware/nvidia", "") ||
                    look("usr/lib/x86_64-linux-gnu", "libcuda.so.") ||
                    look("usr/lib/aarch64-linux-gnu", "libcuda.so.") ||
                    look("usr/lib64", "libcuda.so.");
  return same ? Tri::kYes : answer;
}

bool has_driver(const Files& files, const std::string& root) {
  const std::string list = modules_file(files, "modules.dep", root);
  return !list.empty() && !files.lines_with(list, "nvidia").empty();
}

}  // namespace

std::vector<std::string> driver_roots(const Files& files, const std::string& loaded_release,
                                      const std::string& given) {
  std::vector<std::string> candidates;
  const auto add = [&](const std::string& root) {
    if (std::ranges::find(candidates, root) == candidates.end()) candidates.push_back(root);
  };
  if (is_plain_path(given)) add(given.substr(1));
  add("");
  add(kOperatorsDriverRoot);
  for (const std::string& root : mounted_roots(files)) add(root);
  std::vector<std::string> same, others;
  for (const std::string& root : candidates) {
    const bool asked_for = !given.empty() && "/" + root == given;
    if (!root.empty() && !asked_for && !has_driver(files, root)) continue;
    const Tri holds = loaded_release.empty() || asked_for
                          ? Tri::kUnknown
                          : holds_release(files, root, loaded_release);
    if (holds == Tri::kNo && !root.empty()) continue;
    (holds == Tri::kYes || asked_for ? same : others).push_back(root);
  }
  same.insert(same.end(), others.begin(), others.end());
  return same;
}

}  // namespace gdr::host
