#include "process/private_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/environment.h"
#include "base/printable.h"
#include "process/trust.h"

namespace gdr::process {

Result<PrivateFolder> PrivateFolder::make(const std::string& purpose, const std::string& where) {
  const std::string hint = where.empty() ? "; set TMPDIR to a folder of your own" : "";
  const std::string parent = where.empty() ? environment("TMPDIR").value_or("/tmp") : where;
  if (const auto stranger = who_else_can_change(parent)) {
    return Error{EPERM,
                 printable(parent) + " is not safe for a folder: " + stranger->text() + hint};
  }
  std::string name = parent + "/gdr-" + purpose + "-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    return Error{
        errno, "cannot make a folder in " + printable(parent) + ": " + std::strerror(errno) + hint};
  }
  return PrivateFolder(std::move(name));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!name_.empty()) std::filesystem::remove_all(name_, ignored);
}

}  // namespace gdr::process
