// A folder for this account alone, in which nobody else can change what is compiled or run. It goes
// with the object and all its files; what a kill leaves, the next one sweeps (base/work_folder.h).
//
//   Result<PrivateFolder> folder = PrivateFolder::make("nccl");  // /tmp/gdr-nccl-x7yq2b
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "base/work_folder.h"

namespace gdr::process {

class PrivateFolder {
 public:
  // `where`: the folder that it is made in; empty: TMPDIR, or /tmp, and the error says how to
  // choose another one. EPERM: another account could rename it there, and put its own in its place.
  static Result<PrivateFolder> make(const std::string& purpose, const std::string& where = "");

  const std::string& name() const { return folder_.path(); }

 private:
  explicit PrivateFolder(WorkFolder folder) : folder_(std::move(folder)) {}
  WorkFolder folder_;
};

}  // namespace gdr::process
