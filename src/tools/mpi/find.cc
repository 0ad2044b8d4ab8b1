#include "mpi/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mpi/judge.h"
#include "mpi/places.h"

namespace gdr::mpi {
namespace {

constexpr std::array kLaunchers = {"mpirun",          "mpiexec",      "orterun",       "prterun",
                                   "mpirun.openmpi",  "mpirun.mpich", "mpiexec.hydra", "mpirun_rsh",
                                   "mpiexec.openmpi", "mpiexec.mpich"};

// One of these in the folder of its programs shows that it is an MPI, and which.
constexpr std::array kAsked = {"ompi_info", "mpichversion", "mpiname", "impi_info"};

bool contains(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

// By the name of the file that all links lead to.
Family family_by_name(const std::string& program) {
  const std::string name = name_of_file(program);
  for (const char* word :
       {"orterun", "prte", "prun", "openmpi", "opal_wrapper", "ompi", "ortecc"}) {
    if (contains(name, word)) return Family::kOpenMpi;
  }
  if (contains(program, "/cray/pe/mpich/")) return Family::kCray;
  if (contains(name, "mpirun_rsh") || contains(name, "mvapich")) return Family::kMvapich;
  if (contains(program, "/intel") && contains(program, "mpi")) return Family::kIntel;
  if (contains(name, "mpich")) return Family::kMpich;
  return Family::kUnknown;
}

// By what lies beside it, where that is one family's only.
Family family_by_neighbours(const Machine& machine, const std::string& bin, bool is_hydra) {
  const bool open_mpi = machine.has(bin + "/ompi_info") && !is_hydra;
  Family other = Family::kUnknown;
  if (machine.has(bin + "/mpichversion")) other = Family::kMpich;
  if (machine.has(bin + "/mpiname") || machine.has(bin + "/mpirun_rsh")) other = Family::kMvapich;
  if (machine.has(bin + "/impi_info")) other = Family::kIntel;
  if (open_mpi) return other == Family::kUnknown ? Family::kOpenMpi : Family::kUnknown;
  return other;
}

Family family_by_words(const std::string& text) {
  if (contains(text, "Intel(R) MPI")) return Family::kIntel;
  if (contains(text, "Open MPI") || contains(text, "OpenRTE") || contains(text, "PRRTE") ||
      contains(text, "Spectrum MPI")) {
    return Family::kOpenMpi;
  }
  if (contains(text, "CRAY MPICH")) return Family::kCray;
  if (contains(text, "mvapich") || contains(text, "MVAPICH")) return Family::kMvapich;
  return contains(text, "HYDRA") ? Family::kMpich : Family::kUnknown;
}

std::string origin_of(const Machine& machine, const std::string& prefix) {
  if (contains(prefix, "/hpc_sdk/")) return "NVIDIA HPC SDK";
  if (contains(prefix, "hpcx")) return "HPC-X";
  if (machine.has(prefix + "/conda-meta")) return "conda";
  if (prefix.starts_with("/usr/mpi/")) return "DOCA-OFED or MLNX_OFED";
  if (prefix.starts_with("/opt/amazon/")) return "AWS EFA installer";
  if (prefix.starts_with("/opt/ohpc/")) return "OpenHPC";
  if (prefix.starts_with("/opt/cray/")) return "HPE Cray Programming Environment";
  if (contains(prefix, "/intel/oneapi/")) return "Intel oneAPI";
  if (machine.has(prefix + "/.spack")) return "Spack";
  if (machine.has(prefix + "/easybuild")) return "EasyBuild";
  if (prefix == "/usr" || prefix.starts_with("/usr/lib")) {
    return machine.has("/etc/debian_version") ? "Debian package" : "system package";
  }
  return {};
}

std::string prefix_of(const std::string& bin) {
  const std::string name = name_of_file(bin);
  return name.starts_with("bin") ? folder_of(bin) : bin;
}

bool has_tools(const Machine& machine, const std::string& bin) {
  return std::ranges::any_of(kAsked,
                             [&](const char* tool) { return machine.has(bin + "/" + tool); });
}

// The folder of the launcher that a script calls by its whole path; empty: none.
std::string bin_behind_script(const Machine& machine, const std::string& program) {
  const std::string text = machine.files.text(Machine::below_root(program));
  if (!text.starts_with("#!")) return {};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\n\"'=;()", at);
    if (begin == text.npos) break;
    at = std::min(text.find_first_of(" \t\n\"'=;()", begin), text.size());
    const std::string word = text.substr(begin, at - begin);
    const bool launches = std::ranges::find(kLaunchers, name_of_file(word)) != kLaunchers.end();
    if (word.starts_with('/') && launches && has_tools(machine, folder_of(word))) {
      return folder_of(word);
    }
  }
  // The launcher of the NVIDIA HPC SDK makes the path out of its own.
  const std::size_t sdk = program.find("/comm_libs/");
  if (sdk == program.npos) return {};
  for (const char* below : {"/comm_libs/*/hpcx/*/ompi/bin", "/comm_libs/hpcx/*/ompi/bin"}) {
    for (const std::string& bin : fitting(machine, program.substr(0, sdk) + below)) {
      if (has_tools(machine, bin)) return bin;
    }
  }
  return {};
}

// A link or a script in another folder may start a program of an installation elsewhere.
std::string bin_of(const Machine& machine, const std::string& program) {
  std::string bin = folder_of(program);
  const std::string real = machine.real_path(program);
  if (has_tools(machine, bin)) return bin;
  if (has_tools(machine, folder_of(real))) return folder_of(real);
  const std::string behind = bin_behind_script(machine, real);
  return behind.empty() ? folder_of(real) : behind;
}

// A program that only shares a folder with an MPI is none of it: /bin/true lies beside a
// distribution's ompi_info.
bool starts_or_builds_mpi(const Machine& machine, const std::string& program,
                          const std::string& real) {
  for (const std::string& path : {program, real}) {
    const std::string name = name_of_file(path);
    if (contains(name, "mpi") || std::ranges::find(kLaunchers, name) != kLaunchers.end())
      return true;
  }
  return !bin_behind_script(machine, real).empty();
}

// Who could change a program of it that would be started.
void note_stranger(const Machine& machine, Installation& one) {
  std::vector<std::string> programs = {one.launcher};
  for (const char* name : kAsked) programs.push_back(one.bin + "/" + name);
  for (const std::string& program : programs) {
    if (program.empty() || !machine.has(program)) continue;
    const auto stranger = machine.programs.stranger(program);
    if (!stranger) continue;
    one.not_asked = (stranger->place == program ? "" : program + ": ") + stranger->text();
    one.account = stranger->account();
    return;
  }
}

class Finder {
 public:
  explicit Finder(const Machine& machine) : machine_(machine) {}

  void place(const Place& place) {
    const std::string bin = machine_.real_path(place.bin);
    const auto known = std::ranges::find(bins_, bin);
    if (known == bins_.end()) {
      bins_.push_back(bin);
      look_into(place.bin);
    }
    for (Installation& one : found_) {
      if (machine_.real_path(one.bin) != bin) continue;
      if (std::ranges::find(one.found_by, place.found_by) == one.found_by.end()) {
        one.found_by.push_back(place.found_by);
      }
      if (one.module.empty()) one.module = place.module;
    }
  }

  std::vector<Installation> take() { return std::move(found_); }

 private:
  void look_into(const std::string& bin) {
    for (const char* name : kLaunchers) {
      const std::string program = bin + "/" + name;
      if (machine_.has(program)) add(identify(machine_, program));
    }
    // Nodes that only build programs, and machines whose programs srun starts, have no launcher.
    if (machine_.has(bin + "/ompi_info")) add_without_launcher(bin, Family::kOpenMpi);
    if (contains(bin, "/cray/pe/mpich/")) add_without_launcher(bin, Family::kCray);
    if (machine_.has(bin + "/mpichversion") && found_here(bin) == 0) {
      add_without_launcher(bin, Family::kMpich);
    }
  }

  std::ptrdiff_t found_here(const std::string& bin) const {
    return std::ranges::count(found_, bin, &Installation::bin);
  }

  void add_without_launcher(const std::string& bin, Family family) {
    Installation one;
    one.family = family;
    one.bin = bin;
    one.prefix = prefix_of(bin);
    one.origin = origin_of(machine_, one.prefix);
    note_stranger(machine_, one);
    add(std::move(one));
  }

  void add(Installation one) {
    if (one.family == Family::kUnknown && one.not_asked.empty()) return;
    const std::string bin = machine_.real_path(one.bin);
    const bool known = std::ranges::any_of(found_, [&](const Installation& other) {
      return other.family == one.family && machine_.real_path(other.bin) == bin;
    });
    if (!known) found_.push_back(std::move(one));
  }

  const Machine& machine_;
  std::vector<std::string> bins_;
  std::vector<Installation> found_;
};

bool is_same(const Machine& machine, const Installation& a, const Installation& b) {
  return a.family == b.family && machine.real_path(a.bin) == machine.real_path(b.bin);
}

std::string launcher_in_path(const Machine& machine) {
  const std::string mpirun = find_in_path(machine, "mpirun");
  return mpirun.empty() ? find_in_path(machine, "mpiexec") : mpirun;
}

}  // namespace

std::string find_in_path(const Machine& machine, const std::string& name) {
  for (const std::string& folder : machine.folders("PATH")) {
    std::string path = folder;
    path += "/" + name;
    const std::string real = Machine::below_root(machine.real_path(path));
    if (machine.has(path) && machine.files.kind(real) != host::FileKind::kFolder) return path;
  }
  return {};
}

Installation identify_place(const Machine& machine, const std::string& program) {
  Installation one;
  one.bin = bin_of(machine, program);
  one.prefix = prefix_of(one.bin);
  one.origin = origin_of(machine, one.prefix);
  return one;
}

Installation identify(const Machine& machine, const std::string& program) {
  Installation one = identify_place(machine, program);
  one.launcher = program;
  const std::string real = machine.real_path(program);
  const bool is_hydra = contains(name_of_file(real), "hydra");
  one.family = family_by_name(real);
  const Family neighbours = starts_or_builds_mpi(machine, program, real)
                                ? family_by_neighbours(machine, one.bin, is_hydra)
                                : Family::kUnknown;
  // MPICH's kin have its programs, too, and add some of their own, which tell more.
  if (one.family == Family::kUnknown ||
      (one.family == Family::kMpich && neighbours != Family::kUnknown)) {
    one.family = neighbours;
  }
  note_stranger(machine, one);
  if (one.family != Family::kUnknown || !one.not_asked.empty()) return one;
  const Answer answer = machine.programs.ask({{program, "--version"}});
  if (answer.timed_out) one.hung = program;
  one.family = family_by_words(answer.output);
  return one;
}

std::vector<Installation> find_installations(const Machine& machine) {
  Finder finder(machine);
  for (const Place& place : mpi_places(machine)) finder.place(place);
  std::vector<Installation> found = finder.take();
  const std::string launcher = launcher_in_path(machine);
  if (launcher.empty()) return found;
  const Installation used = identify(machine, launcher);
  const auto at = std::ranges::find_if(
      found, [&](const Installation& one) { return is_same(machine, one, used); });
  if (at == found.end()) {
    // It does not say what it is, or hangs.
    found.insert(found.begin(), used);
    found.front().found_by = {"PATH"};
  } else {
    std::rotate(found.begin(), at, at + 1);
    found.front().launcher = launcher;
  }
  found.front().in_use = true;
  return found;
}

Result<Installation> find_by_launcher(const Machine& machine, const std::string& launcher) {
  const bool is_path = contains(launcher, "/");
  const std::string path = is_path ? launcher : find_in_path(machine, launcher);
  if (path.empty()) return Error{ENOENT, launcher + ": not found in PATH; give its path"};
  if (!machine.has(path)) {
    return Error{ENOENT, launcher + ": no such file; 'gdr mpi check' lists the MPIs of this host"};
  }
  const std::string real = Machine::below_root(machine.real_path(path));
  if (machine.files.kind(real) == host::FileKind::kFolder) {
    return Error{EISDIR, fmt::format("{}: a folder; give the mpirun in it: {}/bin/mpirun", launcher,
                                     launcher.substr(0, launcher.find_last_not_of('/') + 1))};
  }
  Installation one = identify(machine, path);
  if (!one.not_asked.empty()) {
    const Step step = step_to_ask(one);
    return Error{
        EPERM, fmt::format("not asked: {}; {}: {}", one.not_asked, step.text, step.command.text())};
  }
  if (one.family == Family::kUnknown) {
    if (!one.hung.empty()) {
      return Error{ETIMEDOUT, launcher + ": '--version' did not answer in time and was stopped"};
    }
    return Error{EINVAL, launcher +
                             ": not the launcher of an MPI that gdr knows; give an mpirun "
                             "or mpiexec"};
  }
  one.found_by = {"command line"};
  const std::string used = launcher_in_path(machine);
  one.in_use = !used.empty() && is_same(machine, one, identify(machine, used));
  for (const Place& place : mpi_places(machine)) {
    if (place.module.empty() || machine.real_path(place.bin) != machine.real_path(one.bin))
      continue;
    one.module = place.module;
    break;
  }
  return one;
}

}  // namespace gdr::mpi
