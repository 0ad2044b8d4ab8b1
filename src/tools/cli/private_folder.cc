#include "cli/private_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/environment.h"

namespace gdr::cli {

PrivateFolder::PrivateFolder(const std::string& purpose, const std::string& where) {
  const std::string parent = where.empty() ? environment("TMPDIR").value_or("/tmp") : where;
  std::string pattern = fmt::format("{}/gdr-{}-XXXXXX", parent, purpose);
  if (mkdtemp(pattern.data()) != nullptr) {
    name_ = pattern;
  } else {
    complaint_ = fmt::format("cannot make a folder in {}: {}", parent, std::strerror(errno));
  }
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!name_.empty()) std::filesystem::remove_all(name_, ignored);
}

}  // namespace gdr::cli
