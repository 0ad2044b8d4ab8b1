#include "mpi/open_mpi.h"

#include <algorithm>
#include <array>

#include "base/environment.h"
#include "mpi/libraries.h"

namespace gdr::mpi {
namespace {

// These parameters decide which way GPU memory goes.
constexpr std::array kParameters = {
    "pml",
    "btl",
    "mtl",
    "opal_built_with_cuda_support",
    "mpi_built_with_cuda_support",
    "opal_cuda_support",
    "mpi_cuda_support",
    "btl_openib_have_cuda_gdr",
    "btl_openib_have_driver_gdr",
    "btl_openib_want_cuda_gdr",
    "btl_openib_allow_ib",
    "btl_openib_cuda_rdma_limit",
    "btl_smcuda_use_cuda_ipc",
    "pml_ucx_tls",
    "pml_ucx_devices",
    "accelerator",
};

bool matters(std::string_view name) {
  return std::ranges::find(kParameters, name) != kParameters.end();
}

// Options keep their quotes, each its own.
std::string_view unquoted(std::string_view text) { return trimmed(text, " \t\r\"'"); }

std::string_view after(std::string_view line, std::string_view start) {
  return line.starts_with(start) ? line.substr(start.size()) : std::string_view();
}

// mca:pml:ucx:version:"component:4.1.4" or mca:pml:base:param:pml:value:^ucx
void read_parsable_mca(std::string_view line, Installation& one) {
  const std::vector<std::string_view> fields = split(line, ':');
  if (fields.size() >= 4 && fields[3] == "version") {
    one.components[std::string(fields[1])].emplace(fields[2]);
    return;
  }
  if (fields.size() < 6 || fields[3] != "param" || !matters(fields[4])) return;
  Parameter& parameter = one.parameters[std::string(fields[4])];
  // A value or a source may have colons in it.
  const auto rest = [&] {
    return std::string(unquoted(line.substr(
        static_cast<std::size_t>(fields[5].end() - line.begin()) + (fields.size() > 6 ? 1 : 0))));
  };
  if (fields[5] == "value") parameter.value = rest();
  if (fields[5] == "data_source" || fields[5] == "source") parameter.source = rest();
}

bool read_parsable_line(std::string_view line, Installation& one) {
  if (line.starts_with("mca:")) {
    read_parsable_mca(line, one);
    return true;
  }
  if (const auto text = after(line, "ompi:version:full:"); !text.empty())
    one.version = unquoted(text);
  if (const auto text = after(line, "package:"); !text.empty()) {
    if (text.find("Spectrum") != text.npos) one.product = "IBM Spectrum MPI";
    return true;
  }
  if (const auto text = after(line, "config:cli:"); !text.empty()) one.configure = trimmed(text);
  if (const auto text = after(line, "path:pkglibdir:"); !text.empty()) {
    one.parameters["path:pkglibdir"].value = unquoted(text);
  }
  if (const auto text = after(line, "path:libdir:"); !text.empty()) {
    one.parameters["path:libdir"].value = unquoted(text);
  }
  if (const auto text = after(line, "path:prefix:"); !text.empty()) {
    one.parameters["path:prefix"].value = unquoted(text);
  }
  return line.starts_with("ompi:version:");
}

// MCA btl: parameter "btl_openib_want_cuda_gdr" (current value: "false", data source: default, …)
// MCA pml: ucx (MCA v2.1.0, API v2.0.0, Component v4.1.4)
void read_readable_mca(std::string_view line, Installation& one) {
  const std::string_view rest = unquoted(line.substr(4));  // behind "MCA "
  const std::size_t colon = rest.find(':');
  if (colon == rest.npos) return;
  std::string_view framework = rest.substr(0, std::min(colon, rest.find(' ')));
  const std::string_view text = unquoted(rest.substr(colon + 1));
  const std::size_t quote = rest.find('"');
  if (quote == rest.npos) {
    one.components[std::string(framework)].emplace(text.substr(0, text.find(' ')));
    return;
  }
  const std::string_view name = rest.substr(quote + 1, rest.find('"', quote + 1) - quote - 1);
  if (!matters(name)) return;
  constexpr std::string_view kValue = "current value: ", kSource = "data source: ";
  Parameter& parameter = one.parameters[std::string(name)];
  if (const std::size_t at = rest.find(kValue); at != rest.npos) {
    const std::string_view value = rest.substr(at + kValue.size());
    parameter.value = unquoted(value.substr(0, value.find(", data")));
  }
  if (const std::size_t at = rest.find(kSource); at != rest.npos) {
    const std::string_view source = rest.substr(at + kSource.size());
    parameter.source = unquoted(source.substr(0, source.find_first_of(",)")));
  }
}

bool read_readable_line(std::string_view line, Installation& one) {
  const std::string_view text = unquoted(line);
  if (text.starts_with("MCA ")) {
    read_readable_mca(text, one);
    return true;
  }
  if (const auto rest = after(text, "Open MPI:"); !rest.empty()) {
    one.version = unquoted(rest);
    return true;
  }
  if (const auto rest = after(text, "Configure command line:"); !rest.empty()) {
    one.configure = trimmed(rest);
  }
  if (const auto rest = after(text, "Prefix:"); !rest.empty()) {
    one.parameters["path:prefix"].value = unquoted(rest);
  }
  return false;
}

Tri built_with_cuda(const Installation& one, std::string& why) {
  // Open MPI 5 has CUDA in a component, and its older parameter is false where the component is not
  // selected, as on a host without a GPU.
  if (one.has("accelerator", "cuda")) {
    why = "it has the component accelerator/cuda";
    return Tri::kYes;
  }
  for (const char* name : {"mpi_built_with_cuda_support", "opal_built_with_cuda_support"}) {
    const Tri built = one.flag(name);
    if (built == Tri::kUnknown) continue;
    why = std::string(name) + " is " + (built == Tri::kYes ? "true" : "false");
    return built;
  }
  const Version version = one.number();
  if (version.known() && version < Version{1, 7, 0}) {
    why = "Open MPI has CUDA support from 1.7 on";
    return Tri::kNo;
  }
  if (one.configure.find("--with-cuda=no") != std::string::npos ||
      one.configure.find("--without-cuda") != std::string::npos) {
    why = "it was configured without CUDA";
    return Tri::kNo;
  }
  if (one.configure.find("--with-cuda") != std::string::npos) {
    why = "it was configured with --with-cuda";
    return Tri::kYes;
  }
  if (!one.configure.empty() && version.known()) {
    why = "it was configured without --with-cuda";
    return Tri::kNo;
  }
  return Tri::kUnknown;
}

// The path after an installation was moved from where it was built.
std::string moved(const Installation& one, std::string path) {
  const std::string built = one.parameter("path:prefix");
  if (!built.empty() && built != one.prefix && path.starts_with(built + "/")) {
    path = one.prefix + path.substr(built.size());
  }
  return path;
}

void find_library_of(const Machine& machine, Installation& one) {
  for (const std::string& folder :
       {moved(one, one.parameter("path:libdir")), one.prefix + "/lib", one.prefix + "/lib64"}) {
    if (folder.empty() || !one.library.empty()) continue;
    one.library = file_starting(machine, folder, "libmpi.so.");
    if (one.library.empty()) one.library = file_starting(machine, folder, "libmpi.so");
  }
}

}  // namespace

bool read_ompi_info(std::string_view text, Installation& one) {
  bool known = false;
  for (const std::string_view line : split(text, '\n')) {
    known |= read_parsable_line(line, one) || read_readable_line(line, one);
  }
  if (known) one.cuda = built_with_cuda(one, one.why_cuda);
  return known;
}

std::string component_folder(const Machine& machine, const Installation& one) {
  for (const std::string& folder : {moved(one, one.parameter("path:pkglibdir")),
                                    one.prefix + "/lib/openmpi", one.prefix + "/lib64/openmpi"}) {
    if (!folder.empty() && machine.has(folder)) return folder;
  }
  return {};
}

void ask_open_mpi(const Machine& machine, Installation& one) {
  Question question{{one.bin + "/ompi_info", "--parsable", "--all"}};
  if (!one.in_use) {
    // These lead to the MPI in use; OMPI_MCA_ variables are for every Open MPI.
    question.variables["LD_LIBRARY_PATH"] = one.prefix + "/lib:" + one.prefix + "/lib64";
    question.variables["OPAL_PREFIX"] = "";
  }
  // These trees are moved to wherever they are unpacked.
  if (one.origin == "HPC-X" || one.origin == "NVIDIA HPC SDK") {
    question.variables["OPAL_PREFIX"] = one.prefix;
  }
  const Answer answer = machine.programs.ask(question);
  if (answer.timed_out) one.hung = question.words.front();
  one.answered = answer.found && !answer.timed_out && read_ompi_info(answer.output, one);
  if (!one.answered && one.hung.empty() && !one.launcher.empty()) {
    // "mpirun (Open MPI) 4.1.4"
    const Answer version = machine.programs.ask({{one.launcher, "--version"}, question.variables});
    if (version.timed_out) one.hung = one.launcher;
    const std::string first = version.output.substr(0, version.output.find('\n'));
    if (parse_version(first).known()) one.version = first.substr(first.rfind(' ') + 1);
  }
  find_library_of(machine, one);
  ask_query_function(machine, one);
}

}  // namespace gdr::mpi
