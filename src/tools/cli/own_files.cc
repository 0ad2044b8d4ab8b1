#include "cli/own_files.h"

#include <filesystem>

namespace gdr::cli {

Result<std::string> own_folder(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Error{error.value(), "cannot read /proc/self/exe; is /proc mounted?"};
  return (self.parent_path().parent_path() / name).string();
}

}  // namespace gdr::cli
