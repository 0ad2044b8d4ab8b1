// Root: a folder, or what a tar archive holds, as the root of a machine, as after chroot(2).
// Absolute links begin at it again,
// ".." stays in it, and so no path and no link of a captured machine leads to a file of this one.
//
//   const Root root("/captures/dgx");
//   const UniqueFd file = root.open("sys/class/net/eth0/address", O_RDONLY);
//
// The kernel resolves paths (openat2(2), RESOLVE_IN_ROOT). Where it does not, since it is older
// than 5.6 or a sandbox refuses the call, they are walked here one component at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "host/archive_tree.h"

namespace gdr::host {

class Root {
 public:
  // "/" is this machine itself, which has nothing outside.
  explicit Root(const std::string& place);

  // Why there is nothing in it: it is neither a folder nor an archive that can be read. Empty:
  // well.
  const std::string& problem() const { return problem_; }
  // Null: it is a folder.
  const ArchiveTree* archive() const { return archive_.get(); }

  // Like open(2), but never creates; adds O_CLOEXEC. Empty with errno on failure. From an archive
  // only regular files, each time as a copy in memory.
  UniqueFd open(const std::string& path, int flags) const;
  // The components of what a path leads to once all links are followed; nothing where it leads
  // nowhere.
  std::optional<std::vector<std::string>> real_path(const std::string& path) const;

 private:
  UniqueFd open_archived(const std::string& path, int flags) const;

  bool is_whole_;
  UniqueFd folder_;
  std::shared_ptr<const ArchiveTree> archive_;
  std::string problem_;
};

}  // namespace gdr::host
