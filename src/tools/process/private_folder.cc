#include "process/private_folder.h"

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
  Result<WorkFolder> made = WorkFolder::make(parent, "gdr-" + purpose + "-");
  if (!made) return Error{made.error().code, printable(made.error().message) + hint};
  return PrivateFolder(*std::move(made));
}

}  // namespace gdr::process
