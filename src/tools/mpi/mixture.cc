// MPIs that are mixed up: programs built with one and started by another, libraries of a third.
#include <fmt/format.h>

#include <algorithm>

#include "mpi/find.h"
#include "mpi/libraries.h"
#include "mpi/survey.h"

namespace gdr::mpi {
namespace {

std::string described(const Installation& one) {
  return fmt::format("{}'s ({})", name_of(one.family), one.prefix);
}

bool is_same(const Machine& machine, const Installation& a, const Installation& b) {
  return a.family == b.family && machine.real_path(a.bin) == machine.real_path(b.bin);
}

class Mixtures {
 public:
  Mixtures(const Machine& machine, const std::vector<Judged>& mpis, bool given)
      : machine_(machine), mpis_(mpis), given_(given) {}

  std::vector<Mixture> find() {
    const std::string launcher = find_in_path(machine_, "mpirun");
    if (given_ || !launcher.empty()) {
      const Installation used = given_ ? mpis_.front().installation : identify(machine_, launcher);
      compiler(used);
      moved_prefix(used);
      if (!given_) {
        second_launcher(used, launcher);
        loaded_library(used);
      }
    }
    other_ucx();
    several();
    return std::move(found_);
  }

 private:
  void compiler(const Installation& used) {
    const std::string compiler = find_in_path(machine_, "mpicc");
    if (compiler.empty() || used.family == Family::kUnknown) return;
    const Installation built = identify_compiler(compiler);
    if (built.family == Family::kUnknown || is_same(machine_, built, used)) return;
    if (given_) {
      found_.push_back({false, "mpicc in PATH is " + described(built) + ", not of this MPI.",
                        "build its programs with the mpicc in " + used.bin});
      return;
    }
    found_.push_back(
        {true,
         fmt::format("mpicc is {}, mpirun is {}: what the one builds, the other starts as separate "
                     "programs of one process each, or not at all.",
                     described(built), described(used)),
         fmt::format("start programs with the launcher in {}, or build them with the mpicc in {}",
                     built.bin, used.bin)});
  }

  // A wrapper is not started: the name that its links lead to, and its neighbours, tell enough.
  Installation identify_compiler(const std::string& compiler) const {
    const std::string name = name_of_file(machine_.real_path(compiler));
    Installation one = identify_place(machine_, compiler);
    const std::string& bin = one.bin;
    const bool open_mpi = machine_.has(bin + "/ompi_info");
    if (name.find("mpich") != name.npos) {
      one.family = Family::kMpich;
    } else if (name.find("opal_wrapper") != name.npos || name.find("openmpi") != name.npos) {
      one.family = Family::kOpenMpi;
    } else if (machine_.has(bin + "/mpiname")) {
      one.family = Family::kMvapich;
    } else if (machine_.has(bin + "/impi_info")) {
      one.family = Family::kIntel;
    } else if (open_mpi != machine_.has(bin + "/mpichversion")) {
      one.family = open_mpi ? Family::kOpenMpi : Family::kMpich;
    }
    return one;
  }

  void second_launcher(const Installation& used, const std::string& launcher) {
    const std::string other = find_in_path(machine_, "mpiexec");
    if (other.empty() || used.family == Family::kUnknown) return;
    const Installation second = identify(machine_, other);
    if (second.family == Family::kUnknown || is_same(machine_, second, used)) return;
    found_.push_back(
        {true,
         fmt::format("{} is {}, {} is {}.", launcher, described(used), other, described(second)),
         "use one of the two, and the mpicc beside it"});
  }

  void loaded_library(const Installation& used) {
    for (const std::string& folder : machine_.folders("LD_LIBRARY_PATH")) {
      const std::string library = file_starting(machine_, folder, "libmpi.so.");
      if (library.empty()) continue;
      const std::string real = machine_.real_path(library);
      const std::string prefix = machine_.real_path(used.prefix);
      const bool inside =
          prefix == "/usr" ? real.starts_with("/usr/lib") : real.starts_with(prefix + "/");
      if (inside) return;
      found_.push_back(
          {false,
           fmt::format(
               "LD_LIBRARY_PATH leads to {}, which is not of the MPI that mpirun starts ({}).",
               library, used.prefix),
           "unload the module that set it, or take the folder out of LD_LIBRARY_PATH"});
      return;
    }
  }

  void moved_prefix(const Installation& used) {
    const std::string given = machine_.variable("OPAL_PREFIX");
    if (given.empty() || used.family != Family::kOpenMpi ||
        machine_.real_path(given) == machine_.real_path(used.prefix)) {
      return;
    }
    found_.push_back({true,
                      fmt::format("OPAL_PREFIX is {}, but mpirun is of {}: it loads the components "
                                  "of the other one.",
                                  given, used.prefix),
                      "unset OPAL_PREFIX"});
  }

  // People ask ucx_info, and get the answer of another UCX than their MPI's.
  void other_ucx() {
    const std::string program = find_in_path(machine_, "ucx_info");
    if (program.empty()) return;
    for (const Judged& one : mpis_) {
      const std::optional<Ucx>& ucx = one.installation.ucx;
      if (!ucx || ucx->asked.empty() ||
          machine_.real_path(ucx->asked) == machine_.real_path(program)) {
        continue;
      }
      found_.push_back(
          {false,
           fmt::format("ucx_info in PATH ({}) is not of the UCX that {} in {} loads ({}).", program,
                       one.installation.title(), one.installation.prefix,
                       ucx->library.empty() ? ucx->asked : ucx->library),
           "ask " + ucx->asked});
    }
  }

  void several() {
    if (mpis_.size() < 2) return;
    std::string list;
    for (const Judged& one : mpis_) {
      list += list.empty() ? "" : ", ";
      list += one.installation.title() + " in " + one.installation.prefix;
      if (!one.installation.origin.empty()) list += " (" + one.installation.origin + ")";
    }
    found_.push_back({false, fmt::format("{} MPIs are installed: {}.", mpis_.size(), list),
                      "build and start a program with the same one"});
  }

  const Machine& machine_;
  const std::vector<Judged>& mpis_;
  const bool given_;
  std::vector<Mixture> found_;
};

}  // namespace

std::vector<Mixture> find_mixtures(const Machine& machine, const std::vector<Judged>& mpis,
                                   bool given) {
  return Mixtures(machine, mpis, given).find();
}

}  // namespace gdr::mpi
