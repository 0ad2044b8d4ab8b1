#include "mpi/run/toolchain.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "base/environment.h"
#include "base/printable.h"
#include "process/start.h"

namespace gdr::mpi_run {
namespace {

namespace fs = std::filesystem;

constexpr Nanoseconds kAnswerPatience = 20 * kSecond, kCompilePatience = 120 * kSecond;
constexpr std::size_t kMostAnswer = 4 << 20;

// "4.0.2" behind `word`; empty: not there.
std::string version_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == text.npos) return "";
  text.remove_prefix(at + word.size());
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == text.npos || text.substr(0, begin).find('\n') != text.npos) return "";
  text.remove_prefix(begin);
  return std::string(text.substr(0, text.find_first_of(" \t\n\"")));
}

std::string first_line(const std::string& text) {
  return printable(text.substr(0, text.find('\n')));
}

Result<std::string> answer_of(const std::vector<std::string>& command, Nanoseconds patience) {
  process::Start start;
  start.command = command;
  start.chosen_by = process::ChosenBy::kAccount;  // the wishes' find() has judged it
  const Result<process::ChildEnd> end =
      process::run(std::move(start), process::Output::kAll, patience, kMostAnswer);
  if (!end) return end.error();
  if (end->timed_out) {
    return Error{ETIMEDOUT,
                 fmt::format("{} did not answer within {} s", command.front(), patience / kSecond)};
  }
  if (end->status != 0) {
    return Error{EIO, fmt::format("{} failed: {}", command.front(),
                                  end->output.empty() ? process::status_text(end->status)
                                                      : first_line(end->output))};
  }
  return end->output;
}

Result<Identity> ask_launcher(const std::string& launcher) {
  const Result<std::string> answer = answer_of({launcher, "--version"}, kAnswerPatience);
  if (!answer) return answer.error();
  const Identity identity = identity_of_launcher(*answer);
  if (identity.family != Family::kUnknown) return identity;
  return Error{EINVAL, fmt::format("{} is no launcher of an MPI that gdr knows: '{}'; choose one "
                                   "with --mpirun FILE",
                                   launcher, first_line(*answer))};
}

Result<Identity> ask_compiler(const std::string& compiler, const std::string& folder) {
  const std::string probe = folder + "/whose.c";
  std::ofstream(probe) << "#include <mpi.h>\n";
  const Result<std::string> answer = answer_of({compiler, "-E", "-dM", probe}, kAnswerPatience);
  std::error_code ignored;
  fs::remove(probe, ignored);
  if (!answer) return answer.error();
  const Identity identity = identity_of_compiler(*answer);
  if (identity.family != Family::kUnknown) return identity;
  return Error{EINVAL, fmt::format("{} compiles for no MPI that gdr knows; choose one with --mpicc "
                                   "FILE",
                                   compiler)};
}

// "mpicc.openmpi" for "mpirun.openmpi", in the same folder.
std::string compiler_beside(const fs::path& launcher) {
  std::string name = launcher.filename();
  for (const char* word : {"mpirun", "mpiexec", "orterun", "prterun"}) {
    const std::size_t at = name.find(word);
    if (at == std::string::npos) continue;
    name.replace(at, std::string_view(word).size(), "mpicc");
    return launcher.parent_path() / name;
  }
  return launcher.parent_path() / "mpicc";
}

// Where a compiler may be, the likeliest first.
std::vector<std::string> possible_compilers(const ToolchainWishes& wishes,
                                            const std::string& launcher) {
  std::vector<std::string> all;
  std::error_code error;
  if (wishes.launcher == Launcher::kMpirun) {
    all.push_back(compiler_beside(launcher));
    // /usr/bin/mpirun -> /etc/alternatives/mpirun -> /usr/bin/mpirun.openmpi: the name of each
    // link.
    fs::path link = launcher;
    for (int i = 0; i < 8 && fs::is_symlink(link, error); ++i) {
      const fs::path target = fs::read_symlink(link, error);
      link = target.is_absolute() ? target : link.parent_path() / target;
      all.push_back(compiler_beside(link));
    }
  }
  if (const Result<std::string> found = wishes.find("mpicc")) all.push_back(*found);
  std::set<std::string> seen;
  std::erase_if(all, [&](const std::string& one) {
    return !fs::exists(one, error) || !seen.insert(one).second;
  });
  return all;
}

Error mixture(const std::string& launcher, const Identity& one, const std::string& compiler,
              const Identity& other) {
  return Error{EINVAL,
               fmt::format("two MPIs: {} is {}, and {} compiles for {}; choose with --mpirun FILE "
                           "and --mpicc FILE",
                           launcher, one.text(), compiler, other.text())};
}

Result<Toolchain> with_compiler(const std::string& launcher, const Identity& its,
                                const std::string& compiler, const std::string& folder) {
  const Result<Identity> other = ask_compiler(compiler, folder);
  if (!other) return other.error();
  // srun starts ranks of any MPI.
  if (its.family != Family::kUnknown && !belong_together(its, *other)) {
    return mixture(launcher, its, compiler, *other);
  }
  return Toolchain{launcher, compiler, *other};
}

}  // namespace

std::string Identity::text() const {
  const char* name = "an unknown MPI";
  if (family == Family::kOpenMpi) name = "Open MPI";
  if (family == Family::kMpich) name = "MPICH";
  if (family == Family::kIntel) name = "Intel MPI";
  return version.empty() ? name : fmt::format("{} {}", name, version);
}

Identity identity_of_launcher(std::string_view text) {
  for (const char* word : {"(Open MPI)", "(OpenRTE)", "(Open RTE)"}) {
    if (text.find(word) != text.npos) return {Family::kOpenMpi, version_behind(text, word)};
  }
  if (text.find("Intel(R) MPI") != text.npos)
    return {Family::kIntel, version_behind(text, "Version")};
  if (text.find("HYDRA") != text.npos) return {Family::kMpich, version_behind(text, "Version:")};
  return {};
}

Identity identity_of_compiler(std::string_view macros) {
  const auto value = [&](const char* name) {
    return version_behind(macros, fmt::format("#define {} ", name));
  };
  if (macros.find("#define OPEN_MPI ") != macros.npos) {
    return {Family::kOpenMpi,
            fmt::format("{}.{}.{}", value("OMPI_MAJOR_VERSION"), value("OMPI_MINOR_VERSION"),
                        value("OMPI_RELEASE_VERSION"))};
  }
  if (macros.find("#define I_MPI_VERSION ") != macros.npos) {
    return {Family::kIntel, value("I_MPI_VERSION")};
  }
  for (const char* made_from_it : {"MVAPICH2_VERSION", "MVAPICH_VERSION"}) {
    if (!value(made_from_it).empty()) return {Family::kMpich, ""};
  }
  if (!value("MPICH_VERSION").empty()) return {Family::kMpich, value("MPICH_VERSION")};
  return {};
}

bool belong_together(const Identity& launcher, const Identity& compiler) {
  if (launcher.family != compiler.family) return false;
  // Intel's launcher and header give their versions in different forms.
  if (launcher.family == Family::kIntel) return true;
  return launcher.version.empty() || compiler.version.empty() ||
         launcher.version == compiler.version;
}

Result<Toolchain> find_toolchain(const ToolchainWishes& wishes, const std::string& folder) {
  const bool by_srun = wishes.launcher == Launcher::kSrun;
  const std::string wanted = by_srun ? "srun" : wishes.mpirun.empty() ? "mpirun" : wishes.mpirun;
  Result<std::string> launcher = wishes.find(wanted);
  if (!launcher && launcher.error().code == EPERM && !by_srun) {
    return Error{EPERM, launcher.error().message + "; to start it all the same: --mpirun FILE"};
  }
  if (!launcher) {
    return Error{ENOENT, fmt::format("no {}: {}; {}", wanted, launcher.error().message,
                                     by_srun ? "install Slurm, or leave out --launcher srun"
                                             : "install an MPI (Debian: openmpi-bin, "
                                               "libopenmpi-dev), or name it with --mpirun FILE")};
  }
  Identity its;
  if (!by_srun) {
    const Result<Identity> asked = ask_launcher(*launcher);
    if (!asked) return asked.error();
    its = *asked;
  }
  if (!wishes.mpicc.empty()) {
    const Result<std::string> compiler = wishes.find(wishes.mpicc);
    if (!compiler) return Error{ENOENT, "--mpicc: " + compiler.error().message};
    return with_compiler(*launcher, its, *compiler, folder);
  }
  Result<Toolchain> first = Error{
      ENOENT, fmt::format("no mpicc beside {} or in PATH: install the MPI's development package "
                          "(Debian: libopenmpi-dev or libmpich-dev), or name it with --mpicc FILE",
                          *launcher)};
  bool tried = false;
  for (const std::string& compiler : possible_compilers(wishes, *launcher)) {
    const Result<std::string> may_start = wishes.find(compiler);
    Result<Toolchain> mpi =
        may_start ? with_compiler(*launcher, its, compiler, folder)
                  : Error{may_start.error().code,
                          may_start.error().message + "; to start it all the same: --mpicc FILE"};
    if (mpi) return mpi;
    if (!tried) first = mpi.error();
    tried = true;
  }
  return first;
}

Result<std::string> compile(const Toolchain& mpi, const std::string& source,
                            const std::string& folder) {
  const std::string program = folder + "/gdr-mpi";
  process::Start start;
  start.command = {mpi.compiler, "-std=c99", "-O2", "-o", program, source, "-ldl"};
  start.chosen_by = process::ChosenBy::kAccount;
  const Result<process::ChildEnd> end =
      process::run(std::move(start), process::Output::kAll, kCompilePatience, kMostAnswer);
  if (!end) return end.error();
  if (end->timed_out) {
    return Error{ETIMEDOUT, fmt::format("{} did not end within {} s", mpi.compiler,
                                        kCompilePatience / kSecond)};
  }
  if (end->status == 0) return program;
  // The first line that names an error, and not the function that it is in.
  std::string words = end->output;
  for (const std::string_view line : split(end->output, '\n')) {
    if (line.find("rror") == line.npos) continue;
    words = line;
    break;
  }
  return Error{EIO,
               fmt::format("{} cannot compile {}: {}", mpi.compiler, source,
                           words.empty() ? process::status_text(end->status) : first_line(words))};
}

}  // namespace gdr::mpi_run
