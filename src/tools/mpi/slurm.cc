#include "mpi/slurm.h"

#include "base/environment.h"
#include "mpi/find.h"

namespace gdr::mpi {
namespace {

constexpr std::string_view kOption = "srun --mpi=";

// The interfaces that a sentence about launching names.
std::set<std::string> named_in(std::string_view launch) {
  std::set<std::string> names;
  for (std::size_t at = launch.find(kOption); at != launch.npos;
       at = launch.find(kOption, at + 1)) {
    const std::string_view rest = launch.substr(at + kOption.size());
    names.emplace(rest.substr(0, rest.find_first_of(" ,;:")));
  }
  return names;
}

}  // namespace

std::set<std::string> read_slurm_interfaces(std::string_view text) {
  std::set<std::string> names;
  bool begun = false;
  for (std::string_view line : split(text, '\n')) {
    // Older releases put the program's name in front of each line.
    if (line.starts_with("srun: ")) line.remove_prefix(6);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) continue;
    line = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
    if (line.starts_with("MPI types are") || line.starts_with("MPI plugin types are")) {
      begun = true;
    } else if (begun && line.find(' ') == line.npos) {
      names.emplace(line);
    }
  }
  return names;
}

std::set<std::string> slurm_interfaces(const Machine& machine) {
  const std::string srun = find_in_path(machine, "srun");
  if (srun.empty()) return {};
  return read_slurm_interfaces(machine.programs.ask({{srun, "--mpi=list"}}).output);
}

void compare_with_slurm(const std::set<std::string>& offered, Judgement& judgement) {
  const std::set<std::string> wanted = named_in(judgement.launch);
  if (offered.empty() || wanted.empty()) return;
  std::string list;
  for (const std::string& name : offered) {
    // "pmix_v4" is a version of pmix.
    if (wanted.contains(name.substr(0, name.find("_v")))) return;
    list += (list.empty() ? "" : ", ") + name;
  }
  judgement.notes.push_back("srun here offers " + list + ", and none of what this MPI takes (" +
                            *wanted.begin() +
                            "): start it with its own launcher in an allocation.");
}

}  // namespace gdr::mpi
