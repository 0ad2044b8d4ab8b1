#include "cli/run_exec.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/environment.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

// A library neither prints nor exits, so each stand-in exports a function that returns what is
// wrong with its environment variable, or null. It is loaded beside whatever this program is linked
// to.
Result<void> check_configuration(const std::string& library, const char* variable,
                                 const char* function) {
  if (!fs::exists(library)) {
    return Error{ENOENT, fmt::format("{} is missing; build or install gdrkit as a whole", library)};
  }
  if (!environment(variable)) return {};
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error{ENOEXEC, dlerror()};
  auto* complaint = reinterpret_cast<const char* (*)()>(dlsym(handle, function));
  if (complaint == nullptr) return {};
  if (const char* message = complaint()) return Error{EINVAL, message};
  return {};
}

}  // namespace

int exit_status_for(int error_code) { return error_code == ENOENT ? kNotFound : kNotExecutable; }

Result<std::string> stand_in_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Error{error.value(), "cannot read /proc/self/exe; is /proc mounted?"};
  return (self.parent_path().parent_path() / "lib/gdrkit").string();
}

Result<void> check_stand_ins(const Plan& plan, const std::string& folder) {
  if (plan.soft_nic) {
    Result<void> nic = check_configuration(folder + "/soft-nic/libibverbs.so.1", "GDR_SOFT_DEVICES",
                                           "gdr_soft_devices_error");
    if (!nic) return nic;
  }
  if (plan.soft_gpu) {
    Result<void> gpu = check_configuration(folder + "/soft-gpu/libcuda.so.1", "GDR_SOFT_GPUS",
                                           "gdr_soft_gpus_error");
    if (!gpu) return gpu;
  }
  return {};
}

Error replace_process(const Plan& plan, const std::string& path,
                      const std::vector<std::string>& command) {
  for (const auto& [name, value] : plan.variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // execvp, for a script without "#!" goes to the shell as it does from a shell.
  execvp(path.c_str(), arguments.data());
  return Error{errno, fmt::format("{}: {}", path, std::strerror(errno))};
}

}  // namespace gdr::cli
