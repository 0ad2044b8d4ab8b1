#include "peermem/places.h"

#include <algorithm>
#include <array>
#include <functional>

#include "host/registration/driver_roots.h"
#include "peermem/module_file.h"

namespace gdr::peermem {
namespace {

using StemRule = std::function<bool(const std::string& stem)>;

constexpr int kDeepest = 8;
constexpr std::size_t kMostEntries = 100'000;  // a distribution's kernel has some 7,000

std::string below(const std::string& root, const std::string& path) {
  return root.empty() ? path : root + "/" + path;
}

std::string origin_of(const std::string& root) {
  return root.empty() ? "this host" : "the driver's root /" + root;
}

// modules.dep names what modprobe takes; others of the same name lie in its shadow.
class ModuleTree {
 public:
  ModuleTree(const host::Files& files, std::string folder)
      : files_(files), folder_(std::move(folder)) {}

  std::vector<std::string> find(const StemRule& rule) {
    walk("", 0, rule);
    std::stable_partition(found_.begin(), found_.end(), [&](const std::string& path) {
      const std::string line = path + ":";
      return std::ranges::any_of(files_.lines_with(folder_ + "/modules.dep", module_stem(path)),
                                 [&](const std::string& one) { return one.starts_with(line); });
    });
    return found_;
  }

 private:
  void walk(const std::string& path, int depth, const StemRule& rule) {
    for (const std::string& name : files_.entries(folder_ + "/" + path)) {
      if (++seen_ > kMostEntries) return;
      const std::string inner = path.empty() ? name : path + "/" + name;
      const std::string stem = module_stem(name);
      if (!stem.empty()) {
        if (rule(stem)) found_.push_back(inner);
      } else if (depth < kDeepest &&
                 files_.kind(folder_ + "/" + inner) == host::FileKind::kFolder) {
        walk(inner, depth + 1, rule);
      }
    }
  }

  const host::Files& files_;
  std::string folder_;
  std::size_t seen_ = 0;
  std::vector<std::string> found_;
};

std::vector<Place> modules(const host::Files& files, const Where& where, const StemRule& rule) {
  std::vector<Place> places;
  for (const std::string& root : where.roots) {
    const std::string folder = below(root, "lib/modules/" + where.kernel);
    for (const std::string& path : ModuleTree(files, folder).find(rule)) {
      places.push_back({folder + "/" + path, origin_of(root)});
    }
  }
  return places;
}

bool is_driver(const std::string& stem) {
  if (!stem.starts_with("nvidia")) return false;
  constexpr std::array kOthers = {"uvm", "modeset", "drm", "peermem", "fs", "vfio"};
  return std::ranges::none_of(kOthers, [&](const char* other) { return stem.ends_with(other); });
}

bool is_candidate(const std::string& stem) {
  if (stem == "nv_peer_mem" || stem == "gdrkit-peermem") return true;  // the latter by DKMS
  return stem.starts_with("nvidia") && (stem.ends_with("-peermem") || stem.ends_with("_peermem"));
}

bool is_rdma(const std::string& stem) { return stem == "ib_core" || stem == "ib_uverbs"; }

std::vector<Place> existing(const host::Files& files, const Where& where,
                            const std::vector<std::string>& paths) {
  std::vector<Place> places;
  for (const std::string& root : where.roots) {
    for (const std::string& path : paths) {
      if (files.exists(below(root, path))) places.push_back({below(root, path), origin_of(root)});
    }
  }
  return places;
}

}  // namespace

std::string kernel_release(const host::Files& files, const std::string& given) {
  std::string kernel = given.empty() ? files.line("proc/sys/kernel/osrelease") : given;
  if (kernel.find('/') != std::string::npos || kernel == ".." || kernel == ".") return {};
  return kernel;
}

Where where_to_look(const host::Files& files, const std::string& kernel,
                    const std::string& driver_release, const std::string& driver_root) {
  Where where{kernel, host::driver_roots(files, driver_release, driver_root)};
  // Also without modules.dep, and for another kernel than the one that runs.
  const std::string operators = host::kOperatorsDriverRoot;
  if (std::ranges::find(where.roots, operators) == where.roots.end() &&
      files.exists(operators + "/lib/modules/" + kernel)) {
    where.roots.push_back(operators);
  }
  return where;
}

std::vector<Place> driver_files(const host::Files& files, const Where& where) {
  return modules(files, where, is_driver);
}

std::vector<Place> candidate_files(const host::Files& files, const Where& where) {
  return modules(files, where, is_candidate);
}

std::vector<Place> rdma_files(const host::Files& files, const Where& where) {
  // The RDMA stack is the host's, or that of a network driver's container.
  Where all = where;
  const std::string doca = "run/mellanox/drivers";
  if (files.exists(doca + "/lib/modules/" + where.kernel)) all.roots.push_back(doca);
  return modules(files, all, is_rdma);
}

std::vector<Place> rdma_symvers_files(const host::Files& files, const Where& where) {
  std::vector<std::string> paths;
  for (const char* root : {"", "run/mellanox/drivers/"}) {
    for (const char* arch : {"x86_64/", "aarch64/", ""}) {
      paths.push_back(std::string(root) + "usr/src/ofa_kernel/" + arch + where.kernel +
                      "/Module.symvers");
    }
    paths.push_back(std::string(root) + "usr/src/ofa_kernel/default/Module.symvers");
    paths.push_back(std::string(root) + "usr/src/ofa_kernel/Module.symvers");
  }
  return existing(files, where, paths);
}

std::vector<Place> kernel_symvers_files(const host::Files& files, const Where& where) {
  std::vector<Place> places;
  for (const Place& folder : header_folders(files, where)) {
    const std::string path = folder.path + "/Module.symvers";
    if (files.exists(path)) places.push_back({path, folder.origin});
  }
  return places;
}

std::vector<Place> header_folders(const host::Files& files, const Where& where) {
  std::vector<Place> folders;
  for (const Place& makefile : existing(files, where,
                                        {"lib/modules/" + where.kernel + "/build/Makefile",
                                         "usr/src/linux-headers-" + where.kernel + "/Makefile",
                                         "usr/src/kernels/" + where.kernel + "/Makefile"})) {
    folders.push_back({makefile.path.substr(0, makefile.path.rfind('/')), makefile.origin});
  }
  return folders;
}

}  // namespace gdr::peermem
