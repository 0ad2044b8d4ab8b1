#include "mpi/fabrics.h"

#include <algorithm>

#include "base/environment.h"
#include "mpi/libraries.h"
#include "mpi/open_mpi.h"

namespace gdr::mpi {
namespace {

bool contains(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

Tri tri(bool value) { return value ? Tri::kYes : Tri::kNo; }

std::string parent(const std::string& path) { return folder_of(path); }

// The value of --with-NAME= among configure options; empty: none, or no folder.
std::string folder_given(const std::string& options, const std::string& name) {
  const std::string option = "--with-" + name + "=";
  const std::size_t at = options.find(option);
  if (at == options.npos) return {};
  const std::string rest = options.substr(at + option.size());
  const std::string value = rest.substr(0, rest.find_first_of(" '\""));
  return value.starts_with('/') ? value : std::string();
}

// UCX loads its modules from a folder beside its libraries.
bool read_ucx_modules(const Machine& machine, Ucx& ucx) {
  if (ucx.library.empty()) return false;
  const std::string folder = folder_of(machine.real_path(ucx.library)) + "/ucx";
  const std::vector<std::string> files = machine.entries(folder);
  if (files.empty()) return false;
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(files, [&](const std::string& file) {
      return file.starts_with(name) && contains(file, ".so");
    });
  };
  ucx.cuda = tri(has("libuct_cuda.so"));
  ucx.cuda_ipc = ucx.cuda;
  ucx.gdrcopy = tri(has("libuct_cuda_gdrcopy.so"));
  ucx.network = tri(has("libuct_ib"));
  ucx.why_cuda =
      (ucx.cuda == Tri::kYes ? "libuct_cuda.so is in " : "no libuct_cuda.so in ") + folder;
  return true;
}

void ask_ucx(const Machine& machine, const std::vector<std::string>& prefixes, Ucx& ucx) {
  const bool modules = read_ucx_modules(machine, ucx);
  for (const std::string& prefix : prefixes) {
    const std::string program = prefix + "/bin/ucx_info";
    const Variables own = {{"LD_LIBRARY_PATH", prefix + "/lib:" + prefix + "/lib64"}};
    const Answer version = machine.programs.ask({{program, "-v"}, own});
    if (!version.found) continue;
    ucx.asked = program;
    ucx.hung = version.timed_out;
    if (ucx.hung) return;
    Ucx said;
    read_ucx_version(version.output, said);
    const Answer devices = machine.programs.ask({{program, "-d"}, own});
    if (devices.found && !devices.timed_out) read_ucx_devices(devices.output, said);
    said.hung = devices.timed_out;
    if (modules) {
      said.cuda = ucx.cuda;
      said.cuda_ipc = ucx.cuda_ipc;
      said.gdrcopy = ucx.gdrcopy;
      said.network = ucx.network;
      said.why_cuda = ucx.why_cuda;
    }
    said.library = ucx.library;
    said.asked = program;
    ucx = said;
    return;
  }
}

void ask_ofi(const Machine& machine, const std::vector<std::string>& prefixes, Ofi& ofi) {
  for (const std::string& prefix : prefixes) {
    const std::string program = prefix + "/bin/fi_info";
    const Variables own = {{"LD_LIBRARY_PATH", prefix + "/lib:" + prefix + "/lib64"}};
    const Answer version = machine.programs.ask({{program, "--version"}, own});
    if (!version.found) continue;
    ofi.asked = program;
    ofi.hung = version.timed_out;
    if (ofi.hung) return;
    read_fi_version(version.output, ofi);
    read_fi_providers(machine.programs.ask({{program, "-l"}, own}).output, ofi);
    const Answer variables = machine.programs.ask({{program, "-e"}, own});
    if (variables.found && !variables.timed_out) read_fi_variables(variables.output, ofi);
    break;
  }
  if (ofi.cuda != Tri::kUnknown || ofi.library.empty()) return;
  if (const auto object = read_library(machine, ofi.library)) {
    if (object->needs("libcuda.so") || object->needs("libcudart.so")) {
      ofi.cuda = Tri::kYes;
      ofi.why_cuda = name_of_file(ofi.library) + " needs a library of CUDA";
    }
  }
}

// The library that reaches the network: a component of Open MPI, or libmpi itself.
std::string find_under(const Machine& machine, const Installation& one,
                       const std::vector<std::string>& components, const std::string& name,
                       const std::vector<std::string>& first) {
  std::vector<std::string> users;
  const std::string folder = component_folder(machine, one);
  for (const std::string& component : components) {
    if (!folder.empty()) users.push_back(folder + "/" + component);
    users.push_back(folder_of(one.library) + "/" + component);
  }
  users.push_back(one.library);
  users.push_back(folder_of(one.library) + "/libopen-pal.so");
  for (const std::string& user : users) {
    if (user.empty()) continue;
    std::string found = find_needed(machine, user, name, first);
    if (!found.empty()) return found;
  }
  return {};
}

bool needs(const Machine& machine, const Installation& one, std::string_view name) {
  const auto object = one.library.empty() ? std::nullopt : read_library(machine, one.library);
  return object && object->needs(name);
}

// In the order in which they are likely to be this installation's own. Those of the system come
// last.
std::vector<std::string> prefixes_for(const Installation& one, const std::string& library,
                                      const std::string& name) {
  std::vector<std::string> list;
  if (!library.empty()) return {prefix_of_library(library)};
  list.push_back(parent(one.prefix) + "/" + name);  // HPC-X: ompi and ucx are neighbours
  if (const std::string given = folder_given(one.configure, name); !given.empty()) {
    list.push_back(given);
  }
  if (name == "ofi") {
    list.push_back(one.prefix + "/libfabric");  // Intel MPI brings its own
    list.push_back(one.prefix + "/opt/mpi/libfabric");
    if (const std::string given = folder_given(one.configure, "libfabric"); !given.empty()) {
      list.push_back(given);
    }
  }
  list.push_back(one.prefix);
  list.emplace_back("/usr");
  return list;
}

void find_ucx(const Machine& machine, Installation& one) {
  Ucx ucx;
  // HPC-X and NVHPC load a module that puts these into LD_LIBRARY_PATH.
  const std::vector<std::string> first = {parent(one.prefix) + "/ucx/lib", one.prefix + "/lib"};
  ucx.library = find_under(machine, one, {"mca_pml_ucx.so", "libmca_common_ucx.so"}, "libucp.so",
                           one.in_use ? std::vector<std::string>() : first);
  if (ucx.library.empty()) {
    ucx.library =
        find_under(machine, one, {"mca_pml_ucx.so", "libmca_common_ucx.so"}, "libucp.so", first);
  }
  const std::vector<std::string> prefixes = prefixes_for(one, ucx.library, "ucx");
  if (ucx.library.empty()) {
    for (const std::string& prefix : prefixes) {
      if (ucx.library.empty() && prefix != "/usr") {
        ucx.library = file_starting(machine, prefix + "/lib", "libucp.so");
      }
    }
  }
  ask_ucx(machine, prefixes, ucx);
  one.ucx = ucx;
}

void find_ofi(const Machine& machine, Installation& one) {
  Ofi ofi;
  const std::vector<std::string> first = {one.prefix + "/lib", one.prefix + "/libfabric/lib",
                                          one.prefix + "/opt/mpi/libfabric/lib"};
  ofi.library =
      find_under(machine, one, {"mca_mtl_ofi.so", "libmca_common_ofi.so"}, "libfabric.so", first);
  ask_ofi(machine, prefixes_for(one, ofi.library, "ofi"), ofi);
  one.ofi = ofi;
}

}  // namespace

void read_ucx_version(std::string_view text, Ucx& ucx) {
  for (const std::string_view line : split(text, '\n')) {
    // "# Version 1.13.1" since 1.12; before that "# UCT version=1.8.0 revision c30b7da"
    for (const std::string_view key : {"# Version ", "# UCT version=", "# Library version: "}) {
      if (!line.starts_with(key)) continue;
      const std::string_view rest = line.substr(key.size());
      ucx.version = rest.substr(0, rest.find_first_of(" \r"));
    }
    if (!contains(line, "onfigured with")) continue;
    const bool with = contains(line, "--with-cuda") && !contains(line, "--with-cuda=no");
    ucx.cuda = tri(with);
    ucx.cuda_ipc = ucx.cuda;
    ucx.gdrcopy = tri(contains(line, "--with-gdrcopy") && !contains(line, "--with-gdrcopy=no"));
    ucx.why_cuda = with ? "it was configured with --with-cuda" : "it was configured without CUDA";
    if (contains(line, "--without-verbs")) ucx.network = Tri::kNo;
    if (contains(line, "--with-verbs")) ucx.network = Tri::kYes;
  }
}

void read_ucx_devices(std::string_view text, Ucx& ucx) {
  bool rdma = false;
  for (const std::string_view line : split(text, '\n')) {
    if (contains(line, "Memory domain:")) rdma = false;
    if (contains(line, "Component: ib") || contains(line, "component: ib")) rdma = true;
    if (rdma && contains(line, "register:") && contains(line, "dmabuf")) ucx.dma_buf = Tri::kYes;
    if (!contains(line, "Transport:")) continue;
    if (contains(line, "cuda_copy")) {
      ucx.cuda = Tri::kYes;
      ucx.why_cuda = "ucx_info -d lists cuda_copy";
    }
    if (contains(line, "cuda_ipc")) ucx.cuda_ipc = Tri::kYes;
    if (contains(line, "gdr_copy")) ucx.gdrcopy = Tri::kYes;
    if (contains(line, "rc_") || contains(line, "dc_") || contains(line, "ud_") ||
        contains(line, " rc") || contains(line, " dc")) {
      ucx.network = Tri::kYes;
    }
  }
}

void read_fi_version(std::string_view text, Ofi& ofi) {
  constexpr std::string_view kKey = "libfabric: ";
  const std::size_t at = text.find(kKey);
  if (at == text.npos) return;
  const std::string_view rest = text.substr(at + kKey.size());
  ofi.version = rest.substr(0, rest.find_first_of(" \r\n"));
}

void read_fi_providers(std::string_view text, Ofi& ofi) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line[0] == ' ' || !line.ends_with(':')) continue;
    ofi.providers.emplace(line.substr(0, line.size() - 1));
  }
}

void read_fi_variables(std::string_view text, Ofi& ofi) {
  if (!contains(text, "FI_")) return;
  // Only a build with CUDA has these variables.
  const bool with = contains(text, "FI_HMEM_CUDA_");
  ofi.cuda = tri(with);
  ofi.why_cuda = with ? "fi_info -e lists FI_HMEM_CUDA_ variables"
                      : "fi_info -e lists no FI_HMEM_CUDA_ variable";
}

void find_fabrics(const Machine& machine, Installation& one) {
  bool ucx = false, ofi = false;
  switch (one.family) {
    case Family::kOpenMpi:
      ucx = one.has("pml", "ucx");
      ofi = one.has("mtl", "ofi") || one.has("btl", "ofi");
      break;
    case Family::kIntel:
      ofi = true;
      break;
    case Family::kCray:
      ofi = contains(one.prefix, "/ofi/") || !contains(one.prefix, "/ucx/");
      ucx = !ofi;
      break;
    default:
      ucx = contains(one.device, "ucx") || needs(machine, one, "libucp.so");
      ofi = contains(one.device, "ofi") || needs(machine, one, "libfabric.so");
  }
  if (ucx) find_ucx(machine, one);
  if (ofi) find_ofi(machine, one);
  if (one.ucx && one.ucx->hung) one.hung = one.ucx->asked;
  if (one.ofi && one.ofi->hung) one.hung = one.ofi->asked;
}

}  // namespace gdr::mpi
