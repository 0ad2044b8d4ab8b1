#include "mpi/mpich.h"

#include <algorithm>

#include "base/environment.h"
#include "mpi/libraries.h"

namespace gdr::mpi {
namespace {

// The value behind a name that ends with `key`: "MPICH Device:   ch4:ucx".
std::string_view value_of(std::string_view line, std::string_view key) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return {};
  const std::string_view name = trimmed(line.substr(0, colon));
  return name.ends_with(key) ? trimmed(line.substr(colon + 1)) : std::string_view();
}

// "MVAPICH2-GDR 2.3.7 Sun May 29 22:00:00 EDT 2022 ch3:mrail"
bool read_mpiname(std::string_view line, Installation& one) {
  const std::vector<std::string_view> words = split(trimmed(line), ' ');
  if (words.size() < 2 || !(words[0].starts_with("MVAPICH") || words[0].starts_with("mvapich")) ||
      !parse_version(std::string(words[1])).known()) {
    return false;
  }
  one.product = words[0];
  one.version = words[1];
  if (words.back().find(':') != line.npos && words.back().starts_with("ch")) {
    one.device = words.back();
  }
  return true;
}

bool read_line(std::string_view line, Installation& one, bool& in_configuration) {
  if (read_mpiname(line, one)) return true;
  // mpiname -a has the options on a line behind this one.
  if (in_configuration && !trimmed(line).empty()) {
    one.configure = trimmed(line);
    in_configuration = false;
  }
  if (trimmed(line) == "Configuration") in_configuration = true;
  for (const char* key : {"MPICH Version", "MPICH2 Version", "MVAPICH2 Version", "MVAPICH Version",
                          "MVAPICH-PLUS Version", "MVAPICH-Plus Version"}) {
    const std::string_view version = value_of(line, key);
    if (version.empty()) continue;
    one.version = version;
    const std::string_view name = trimmed(line).substr(0, std::string_view(key).find(' '));
    if (name.starts_with("MVAPICH")) one.product = name;
    return true;
  }
  if (line.find("CRAY MPICH version") != line.npos) {
    const std::string_view text = line.substr(line.find("version") + 8);
    one.version = text.substr(0, text.find(' '));
    return true;
  }
  for (const char* key : {"MPICH Device", "MPICH2 Device", "MVAPICH2 Device", "MVAPICH Device",
                          "MVAPICH-PLUS Device", "MVAPICH-Plus Device"}) {
    if (const auto device = value_of(line, key); !device.empty()) one.device = device;
  }
  for (const char* key :
       {"MPICH configure", "MPICH2 configure", "MVAPICH2 configure", "MVAPICH configure",
        "MVAPICH-PLUS configure", "MVAPICH-Plus configure", "Configure options"}) {
    if (const auto options = value_of(line, key); !options.empty()) one.configure = options;
  }
  if (one.version.empty()) {
    // This is the launcher's version, which is the library's.
    if (const auto version = value_of(line, "Version"); !version.empty()) one.version = version;
  }
  return false;
}

bool has_option(const std::string& options, const std::string& option) {
  for (std::size_t at = options.find(option); at != options.npos;
       at = options.find(option, at + 1)) {
    const char next = at + option.size() < options.size() ? options[at + option.size()] : ' ';
    if (next == ' ' || next == '=' || next == '\'' || next == '"') return true;
  }
  return false;
}

Tri built_with_cuda(const Installation& one, const std::optional<SharedObject>& library,
                    std::string& why) {
  if (library && (library->needs("libcudart.so") || library->needs("libcuda.so"))) {
    why = name_of_file(one.library) + " needs " +
          (library->needs("libcudart.so") ? "libcudart" : "libcuda");
    return Tri::kYes;
  }
  const Version version = one.number();
  if (one.family == Family::kMpich && version.known() && version < Version{3, 4, 0}) {
    why = "MPICH has CUDA support from 3.4 on";
    return Tri::kNo;
  }
  for (const char* option :
       {"--without-cuda", "--disable-cuda", "--without-yaksa", "--with-cuda=no"}) {
    if (has_option(one.configure, option)) {
      why = std::string("it was configured with ") + option;
      return Tri::kNo;
    }
  }
  for (const char* option : {"--enable-cuda", "--with-cuda", "--with-cuda-include"}) {
    if (has_option(one.configure, option)) {
      why = std::string("it was configured with ") + option;
      return Tri::kYes;
    }
  }
  // It may say so where neither the options nor what is needed do.
  if (one.query_answer == "1") {
    why = "MPIX_Query_cuda_support returns 1";
    return Tri::kYes;
  }
  if (one.product == "MVAPICH2-GDR") {
    why = "MVAPICH2-GDR is built for CUDA only";
    return Tri::kYes;
  }
  if (library) {
    why = name_of_file(one.library) + " needs no library of CUDA";
    return Tri::kNo;
  }
  if (one.family == Family::kMvapich && !one.configure.empty()) {
    why = "it was configured without --enable-cuda";
    return Tri::kNo;
  }
  return Tri::kUnknown;
}

void find_library_of(const Machine& machine, Installation& one) {
  std::vector<std::string> folders = {one.prefix + "/lib", one.prefix + "/lib64",
                                      one.prefix + "/lib/release"};
  // Distributions put it beside those of other programs.
  if (one.prefix == "/usr") {
    for (const std::string& folder : system_folders(machine)) folders.push_back(folder);
  }
  for (const std::string& folder : folders) {
    for (const char* name : {"libmpich.so.", "libmpi_gnu", "libmpi.so.12", "libmpi.so."}) {
      // In a folder of the system the plain name may be another MPI's.
      if (one.prefix == "/usr" && std::string_view(name) != "libmpich.so.") continue;
      one.library = file_starting(machine, folder, name);
      if (!one.library.empty()) return;
    }
  }
}

// The programs that say what an installation of the family is, the one that says most first.
std::vector<std::vector<std::string>> questions(const Installation& one) {
  const std::string& bin = one.bin;
  const std::string launcher = one.launcher.empty() ? bin + "/mpiexec.hydra" : one.launcher;
  switch (one.family) {
    case Family::kMvapich:
      return {{bin + "/mpiname", "-a"}, {bin + "/mpichversion"}, {launcher, "-info"}};
    case Family::kIntel:
      return {{launcher, "-V"}, {bin + "/mpiexec.hydra", "-V"}, {bin + "/impi_info", "-v"}};
    default:
      return {{bin + "/mpichversion"}, {launcher, "-info"}};
  }
}

// "/opt/intel/oneapi/mpi/2021.11" and "/opt/cray/pe/mpich/8.1.28/ofi/gnu/12.3" have it in the path.
std::string version_in_path(const std::string& path) {
  std::string found;
  for (const std::string_view part : split(path, '/')) {
    if (found.empty() && !part.empty() && part[0] >= '0' && part[0] <= '9' &&
        parse_version(std::string(part)).known()) {
      found = part;
    }
  }
  return found;
}

}  // namespace

bool read_mpich_version(std::string_view text, Installation& one) {
  bool known = false, in_configuration = false;
  for (const std::string_view line : split(text, '\n')) {
    known |= read_line(line, one, in_configuration);
  }
  return known || text.find("HYDRA build details") != text.npos;
}

bool read_intel_version(std::string_view text, Installation& one) {
  constexpr std::string_view kVersion = "Version ";
  const std::size_t name = text.find("Intel(R) MPI Library");
  const std::size_t at = name == text.npos ? text.npos : text.find(kVersion, name);
  if (at == text.npos) return false;
  std::string_view version = text.substr(at + kVersion.size());
  version = version.substr(0, version.find_first_of(" \r\n"));
  // "2019 Update 8" of before oneAPI.
  one.version = version;
  const std::string_view rest = text.substr(at + kVersion.size() + version.size());
  if (rest.starts_with(" Update ")) {
    const std::string_view update = rest.substr(8);
    one.version += "." + std::string(update.substr(0, update.find_first_not_of("0123456789")));
  }
  return true;
}

void ask_mpich(const Machine& machine, Installation& one) {
  Variables variables;
  if (!one.in_use) {
    variables["LD_LIBRARY_PATH"] = one.prefix + "/lib:" + one.prefix + "/lib64";
  }
  for (const std::vector<std::string>& words : questions(one)) {
    if (one.answered || !one.hung.empty()) break;
    const Answer answer = machine.programs.ask({words, variables});
    if (answer.timed_out) one.hung = words.front();
    if (!answer.found || answer.timed_out) continue;
    one.answered = one.family == Family::kIntel ? read_intel_version(answer.output, one)
                                                : read_mpich_version(answer.output, one);
  }
  if (one.product.starts_with("MVAPICH") && one.family == Family::kMpich) {
    one.family = Family::kMvapich;
  }
  if (one.version.empty()) one.version = version_in_path(one.prefix);
  find_library_of(machine, one);
  std::optional<SharedObject> library;
  if (!one.library.empty()) library = read_library(machine, one.library);
  ask_query_function(machine, one);
  if (one.family == Family::kMpich || one.family == Family::kMvapich) {
    one.cuda = built_with_cuda(one, library, one.why_cuda);
  }
}

}  // namespace gdr::mpi
