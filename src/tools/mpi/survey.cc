#include "mpi/survey.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpi/fabrics.h"
#include "mpi/find.h"
#include "mpi/libraries.h"
#include "mpi/mpich.h"
#include "mpi/open_mpi.h"
#include "mpi/slurm.h"

namespace gdr::mpi {
namespace {

constexpr int kOk = 0, kFailed = 1, kWarnings = 3;

// Cray's support for GPUs is a library of its own, beside those for each compiler:
// /opt/cray/pe/mpich/8.1.28/gtl/lib
void find_gtl(const Machine& machine, Installation& one) {
  const std::size_t at = one.prefix.find("/mpich/");
  if (at == one.prefix.npos) return;
  const std::string rest = one.prefix.substr(at + 7);
  const std::string root = one.prefix.substr(0, at + 7) + rest.substr(0, rest.find('/'));
  const std::string found = file_starting(machine, root + "/gtl/lib", "libmpi_gtl_cuda");
  one.cuda = found.empty() ? Tri::kNo : Tri::kYes;
  one.why_cuda = found.empty() ? "There is no libmpi_gtl_cuda in " + root + "/gtl/lib"
                               : name_of_file(found) + " is in " + folder_of(found);
}

void ask(const Machine& machine, Installation& one) {
  if (one.family == Family::kOpenMpi) {
    ask_open_mpi(machine, one);
  } else if (one.family != Family::kUnknown) {
    ask_mpich(machine, one);
  }
  if (one.family == Family::kCray) find_gtl(machine, one);
  if (one.family == Family::kIntel) {
    one.cuda = one.number().known() ? (one.number() < Version{2021, 13, 0} ? Tri::kNo : Tri::kYes)
                                    : Tri::kUnknown;
    one.why_cuda = one.cuda == Tri::kUnknown ? "" : "Intel MPI takes NVIDIA's GPUs from 2021.13 on";
  }
  find_fabrics(machine, one);
}

Verdict best_of(const Judgement& judgement) {
  return std::max(judgement.verdict, judgement.with_settings);
}

// Another MPI of the host that does more is the shortest way.
void add_better(std::vector<Judged>& mpis) {
  for (Judged& one : mpis) {
    if (one.judgement.verdict == Verdict::kDirect) continue;
    const auto better = std::ranges::max_element(
        mpis, {}, [](const Judged& other) { return best_of(other.judgement); });
    if (best_of(better->judgement) != Verdict::kDirect || &*better == &one ||
        best_of(one.judgement) == Verdict::kDirect) {
      continue;
    }
    const Installation& other = better->installation;
    one.judgement.steps.insert(
        one.judgement.steps.begin(),
        {fmt::format("{} in {} on this host has it", other.title(), other.prefix),
         other.module.empty() ? text::Command("gdr mpi check {}",
                                              other.launcher.empty() ? other.bin : other.launcher)
                              : text::Command("module load {}", other.module)});
  }
}

int status_of(const Judgement& judgement) {
  switch (judgement.verdict) {
    case Verdict::kNone:
      return kFailed;
    case Verdict::kPartial:
    case Verdict::kStaged:
      return kWarnings;
    default:
      return kOk;
  }
}

}  // namespace

Result<Report> examine(const Machine& machine, const host::Inventory& inventory,
                       const std::string& launcher) {
  Report report;
  report.given = !launcher.empty();
  report.half = read_driver_half(machine.files, inventory);
  std::vector<Installation> found;
  if (report.given) {
    Result<Installation> one = find_by_launcher(machine, launcher);
    if (!one) return one.error();
    found.push_back(*std::move(one));
  } else {
    found = find_installations(machine);
    if (found.empty()) {
      return Error{
          ENOENT,
          "no MPI found in PATH, in modules or where vendors and distributions put it; name "
          "its launcher: gdr mpi check /path/to/bin/mpirun"};
    }
  }
  report.slurm = slurm_interfaces(machine);
  for (Installation& one : found) {
    if (one.hung.empty() && one.not_asked.empty()) ask(machine, one);
    Judgement judgement = judge(one, report.half, machine.variables);
    if (report.given && !one.hung.empty() && judgement.verdict == Verdict::kUnknown) {
      return Error{ETIMEDOUT, one.hung +
                                  " did not answer in time and was stopped; run it by hand, or "
                                  "give it longer with --timeout"};
    }
    compare_with_slurm(report.slurm, judgement);
    report.mpis.push_back({std::move(one), std::move(judgement)});
  }
  add_better(report.mpis);
  report.mixtures = find_mixtures(machine, report.mpis, report.given);
  return report;
}

int exit_status(const Report& report) {
  if (report.mpis.empty()) return kFailed;
  const Judged* counts = &report.mpis.front();
  if (!report.given && !counts->installation.in_use) {
    counts = &*std::ranges::max_element(report.mpis, {},
                                        [](const Judged& one) { return one.judgement.verdict; });
  }
  int status = status_of(counts->judgement);
  for (const Mixture& mixture : report.mixtures) {
    if (mixture.fails) return kFailed;
  }
  // A program that hangs is a defect, whatever else is known, and one that was not asked is none
  // that is well.
  const Installation& installation = counts->installation;
  const bool is_silent = !installation.hung.empty() || !installation.not_asked.empty();
  if (status == kOk && is_silent) status = kWarnings;
  return status;
}

}  // namespace gdr::mpi
