// ArchiveTree: folders, files and links of an archive, in memory. Links lead nowhere outside of it,
// since there is nothing else; so it is a root as after chroot(2), as Root is.
//
//   ArchiveTree tree;
//   tree.add("sys/class/net/eth0/mtu", FileKind::kRegular, "9000\n");
//   const ArchiveTree::Node* file = tree.find("sys/class/net/eth0/mtu", true);
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/walk.h"

namespace gdr::host {

class ArchiveTree {
 public:
  struct Node {
    FileKind kind = FileKind::kFolder;
    std::string content;  // of a link: where it points
    std::map<std::string, std::unique_ptr<Node>> entries;
  };

  // Like unpacking: creates folders on the path, follows links on it, and replaces what is there,
  // except a folder that is not empty. EINVAL: a path with "..", one through something that is not
  // a folder, or one too long or too deep for a machine. E2BIG: too many entries for a capture.
  Result<void> add(std::string_view path, FileKind kind, std::string content);
  // The same file under another name. EINVAL also: there is no such file.
  Result<void> add_copy(std::string_view path, std::string_view of);

  // What lies in the one folder that the archive has is at the root, where that folder is a
  // machine's: archives are often made of a folder and not in it.
  void leave_folder_around();

  // Null, with errno: it is not there. `last_link_too`: also a link at its end is followed.
  const Node* find(std::string_view path, bool last_link_too) const;
  // The components of what a path leads to; nothing where it leads nowhere.
  std::optional<std::vector<std::string>> real_path(std::string_view path) const;

 private:
  struct Nodes;
  Node* place_of(const Walk<Nodes>& walk) const;

  std::size_t count_ = 0;
  std::unique_ptr<Node> root_ = std::make_unique<Node>();
};

}  // namespace gdr::host
