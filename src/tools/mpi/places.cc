#include "mpi/places.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/environment.h"
#include "mpi/modules.h"

namespace gdr::mpi {
namespace {

constexpr std::size_t kMostFitting = 400;

constexpr const char* kPatterns[] = {
    // Distributions
    "/usr/bin", "/usr/local/bin", "/usr/lib64/openmpi*/bin", "/usr/lib64/compat-openmpi*/bin",
    "/usr/lib64/mpich*/bin", "/usr/lib64/mvapich*/bin", "/usr/lib64/mpi/gcc/*/bin",
    "/usr/lib/openmpi*/bin", "/usr/local/*mpi*/bin", "/usr/local/*mpi*/*/bin",
    "/usr/local/mvapich*/bin", "/usr/local/hpcx*/ompi/bin",
    // NVIDIA's networking stack, HPC-X and HPC SDK
    "/usr/mpi/gcc/*/bin", "/usr/mpi/*/*/bin", "/opt/hpcx*/ompi/bin", "/opt/*/hpcx*/ompi/bin",
    "/opt/nvidia/hpc_sdk/*/*/comm_libs/mpi/bin", "/opt/nvidia/hpc_sdk/*/*/comm_libs/openmpi*/*/bin",
    "/opt/nvidia/hpc_sdk/*/*/comm_libs/hpcx/*/ompi/bin",
    "/opt/nvidia/hpc_sdk/*/*/comm_libs/*/openmpi*/*/bin",
    "/opt/nvidia/hpc_sdk/*/*/comm_libs/*/hpcx/*/ompi/bin",
    // Vendors
    "/opt/intel/oneapi/mpi/*/bin", "/opt/intel/mpi/*/bin", "/opt/intel/impi/*/intel64/bin",
    "/opt/intel/impi/*/bin64", "/opt/intel/compilers_and_libraries_*/linux/mpi/intel64/bin",
    "/opt/cray/pe/mpich/*/*/*/*/bin", "/opt/amazon/openmpi*/bin", "/opt/ibm/spectrum_mpi/bin",
    "/opt/ohpc/pub/mpi/*/bin", "/opt/ohpc/pub/mpi/*/*/bin", "/opt/hpe/hpc/mpt/*/bin",
    // Built by hand
    "/opt/*mpi*/bin", "/opt/*mpi*/*/bin", "/opt/mvapich*/bin", "/opt/mvapich*/*/bin",
    "/opt/mvapich2/gdr/*/*/*/*/*/*/*/bin",
    // conda
    "/opt/*conda*/bin", "/opt/*conda*/envs/*/bin", "/opt/*forge*/bin", "/opt/*forge*/envs/*/bin"};

constexpr const char* kBelowHome[] = {
    "/.conda/envs/*/bin",  "/*conda*/bin",           "/*conda*/envs/*/bin", "/*forge*/bin",
    "/*forge*/envs/*/bin", "/micromamba/envs/*/bin", "/.local/bin"};

constexpr const char* kVariables[] = {
    "MPI_HOME",    "MPI_ROOT",       "MPI_DIR",    "OPAL_PREFIX",   "HPCX_MPI_DIR", "OMPI_HOME",
    "I_MPI_ROOT",  "CRAY_MPICH_DIR", "MPICH_DIR",  "MVAPICH2_HOME", "CONDA_PREFIX", "EBROOTOPENMPI",
    "EBROOTMPICH", "EBROOTMVAPICH2", "EBROOTIMPI", "MPICH_HOME"};

// Below the root of a Spack tree: its two layouts, and the names of its packages.
constexpr const char* kSpackLayouts[] = {"/opt/spack/*/*/", "/opt/spack/*/"};
constexpr const char* kSpackPackages[] = {"openmpi-*/bin",    "mpich-*/bin",
                                          "mvapich*/bin",     "hpcx-mpi-*/bin",
                                          "intel-*mpi-*/bin", "intel-oneapi-mpi-*/mpi/*/bin",
                                          "cray-mpich-*/bin"};

class Collector {
 public:
  explicit Collector(const Machine& machine) : machine_(machine) {}

  void pattern(const std::string& pattern) {
    for (std::string& bin : fitting(machine_, pattern))
      places_.push_back({std::move(bin), pattern, ""});
  }

  void path() {
    for (const std::string& folder : machine_.folders("PATH"))
      places_.push_back({folder, "PATH", ""});
  }

  void variables() {
    for (const char* name : kVariables) {
      const std::string prefix = machine_.variable(name);
      if (prefix.starts_with('/')) places_.push_back({prefix + "/bin", name, ""});
    }
  }

  void modules() {
    for (const Module& module : mpi_modules(machine_)) {
      places_.push_back({module.bin, module.file, module.name});
    }
  }

  void conda() {
    const std::string home = machine_.variable("HOME");
    for (const std::string& folder : {home, std::string("/root")}) {
      if (!folder.starts_with('/')) continue;
      for (const char* below : kBelowHome) pattern(folder + below);
      const std::string list = folder + "/.conda/environments.txt";
      const std::string text = machine_.files.text(Machine::below_root(list));
      for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with('/')) places_.push_back({std::string(line) + "/bin", list, ""});
      }
      if (home == "/root") break;
    }
    for (const std::string& folder : machine_.folders("CONDA_ENVS_PATH"))
      pattern(folder + "/*/bin");
  }

  void spack() {
    std::vector<std::string> roots = {"/opt/spack", "/usr/local/spack", "/spack",
                                      machine_.variable("SPACK_ROOT"),
                                      machine_.variable("HOME") + "/spack"};
    for (const std::string& root : roots) {
      if (!root.starts_with('/') || !machine_.has(root)) continue;
      for (const char* layout : kSpackLayouts) {
        for (const char* package : kSpackPackages) pattern(root + layout + package);
      }
    }
  }

  std::vector<Place> take() { return std::move(places_); }

 private:
  const Machine& machine_;
  std::vector<Place> places_;
};

void fit(const Machine& machine, const std::string& done,
         const std::vector<std::string_view>& parts, std::size_t next,
         std::vector<std::string>& found) {
  if (found.size() >= kMostFitting) return;
  if (next == parts.size()) {
    if (machine.has(done)) found.push_back(done);
    return;
  }
  const std::string part(parts[next]);
  if (part.find('*') == part.npos) return fit(machine, done + "/" + part, parts, next + 1, found);
  for (const std::string& name : machine.entries(done.empty() ? "/" : done)) {
    if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) {
      fit(machine, done + "/" + name, parts, next + 1, found);
    }
  }
}

}  // namespace

std::vector<std::string> fitting(const Machine& machine, const std::string& pattern) {
  std::vector<std::string> found;
  std::vector<std::string_view> parts = split(pattern, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty(); });
  fit(machine, "", parts, 0, found);
  return found;
}

std::vector<Place> mpi_places(const Machine& machine) {
  Collector collector(machine);
  collector.path();
  collector.variables();
  collector.modules();
  for (const char* pattern : kPatterns) collector.pattern(pattern);
  collector.conda();
  collector.spack();
  return collector.take();
}

}  // namespace gdr::mpi
