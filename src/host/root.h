// Root: a folder as the root of a machine, as after chroot(2). Absolute links begin at it again,
// ".." stays in it, and so no path and no link of a captured machine leads to a file of this one.
//
//   const Root root("/captures/dgx");
//   const UniqueFd file = root.open("sys/class/net/eth0/address", O_RDONLY);
//
// The kernel resolves paths (openat2(2), RESOLVE_IN_ROOT). Where it does not, since it is older
// than 5.6 or a sandbox refuses the call, they are walked here one component at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace gdr::host {

class Root {
 public:
  // "/" is this machine itself, which has nothing outside.
  explicit Root(const std::string& folder);

  // As open(2), and never creates; O_CLOEXEC is added. Empty where that fails, with errno.
  UniqueFd open(const std::string& path, int flags) const;
  // The components of what a path leads to once all links are followed; nothing where it leads
  // nowhere.
  std::optional<std::vector<std::string>> real_path(const std::string& path) const;

 private:
  bool is_whole_;
  UniqueFd folder_;
};

}  // namespace gdr::host
