// A file that takes its name only when all of it is on disk: it appears whole or not at all, and a
// kill at any time leaves what had the name before. Nothing else stays in the folder: until then it
// has no name at all, or, where the file system cannot have that, one that the next one sweeps.
//
//   Result<FileBeside> file = FileBeside::make(folder, 0644);
//   write_whole(file->descriptor(), text) && fsync(file->descriptor()) == 0
//   Result<void> named = file->take_name("report.json", /*replaces=*/true);
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr {

class FileBeside {
 public:
  // In the folder that is open, which outlives it.
  static Result<FileBeside> make(int folder, mode_t mode);
  FileBeside(FileBeside&& other) noexcept
      : folder_(other.folder_),
        file_(std::move(other.file_)),
        temporary_(std::exchange(other.temporary_, {})) {}
  FileBeside& operator=(FileBeside&&) = delete;
  ~FileBeside();

  int descriptor() const { return file_.get(); }
  // EEXIST: there is something of that name, and it may not be replaced.
  Result<void> take_name(const std::string& name, bool replaces);

 private:
  explicit FileBeside(int folder) : folder_(folder) {}
  // 0 or errno.
  int link_as(const std::string& name) const;

  int folder_;
  UniqueFd file_;
  std::string temporary_;  // empty: it has no name
};

}  // namespace gdr
