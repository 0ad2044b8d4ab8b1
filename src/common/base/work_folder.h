// A folder for one piece of work, for this account alone. It goes with the object, with all that is
// in it; what a kill -9 leaves, the next one of its kind sweeps (leftovers.h).
//
//   Result<WorkFolder> folder = WorkFolder::make("/tmp", "gdr-mpi-");   // /tmp/gdr-mpi-x7yq2b
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr {

class WorkFolder {
 public:
  static Result<WorkFolder> make(const std::string& parent, const std::string& prefix);
  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), held_(std::move(other.held_)) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const std::string& path() const { return path_; }
  // It has another name now, under which it stays.
  void keep() { path_.clear(); }

 private:
  WorkFolder(std::string path, UniqueFd held) : path_(std::move(path)), held_(std::move(held)) {}

  std::string path_;
  UniqueFd held_;
};

}  // namespace gdr
