#include "host/archive_tree.h"

#include <limits.h>

#include <cerrno>

#include "base/printable.h"

namespace gdr::host {
namespace {

constexpr std::size_t kMostWraps = 3;
constexpr std::size_t kMostNodes = 1'000'000;

Error unusable(std::string_view path, const std::string& why) {
  return Error{EINVAL, "'" + printable(path.substr(0, 200)) + "' in it " + why};
}

}  // namespace

struct ArchiveTree::Nodes {
  using Place = Node*;
  Node* root;

  Node* enter(Node* const* folder, const std::string& name) const {
    const Node* from = folder == nullptr ? root : *folder;
    if (from->kind != FileKind::kFolder) return errno = ENOTDIR, nullptr;
    const auto entry = from->entries.find(name);
    return entry == from->entries.end() ? (errno = ENOENT, nullptr) : entry->second.get();
  }
  static FileKind kind_of(const Node* place) { return place->kind; }
  static const std::string& target_of(const Node* link) { return link->content; }
};

ArchiveTree::Node* ArchiveTree::place_of(const Walk<Nodes>& walk) const {
  return walk.place() == nullptr ? root_.get() : *walk.place();
}

Result<void> ArchiveTree::add(std::string_view path, FileKind kind, std::string content) {
  const std::vector<std::string_view> names = names_in(path);
  if (names.empty()) return {};  // the root itself
  if (path.size() >= PATH_MAX || names.size() >= kMostNames) {
    return unusable(path, "is too long for a path");
  }
  Walk walk(Nodes{root_.get()});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name(names[i]);
    if (name == "..") return unusable(path, "leaves its folder");
    Node* here = place_of(walk);
    const bool last = i + 1 == names.size();
    std::unique_ptr<Node>& entry = here->entries[name];
    if (!entry) {
      if (++count_ > kMostNodes) return Error{E2BIG, "holds more than a captured machine"};
      entry = std::make_unique<Node>();
    }
    if (last) {
      if (entry->kind == FileKind::kFolder && !entry->entries.empty()) return {};
      entry->kind = kind;
      entry->content = std::move(content);
      return {};
    }
    if (!walk.follow(name, true) || place_of(walk)->kind != FileKind::kFolder) {
      return unusable(path, "leads through a link or a file");
    }
  }
  return {};
}

Result<void> ArchiveTree::add_copy(std::string_view path, std::string_view of) {
  Walk walk(Nodes{root_.get()});
  if (!walk.follow(of, false) || place_of(walk)->kind != FileKind::kRegular) {
    return unusable(path, "is a hard link to a missing file");
  }
  return add(path, FileKind::kRegular, place_of(walk)->content);
}

void ArchiveTree::leave_folder_around() {
  const auto is_machine = [](const Node& node) {
    return node.entries.contains("sys") || node.entries.contains("proc");
  };
  for (std::size_t i = 0; i < kMostWraps && !is_machine(*root_); ++i) {
    if (root_->entries.size() != 1) return;
    std::unique_ptr<Node>& only = root_->entries.begin()->second;
    if (only->kind != FileKind::kFolder) return;
    std::unique_ptr<Node> inner = std::move(only);
    root_ = std::move(inner);
  }
}

const ArchiveTree::Node* ArchiveTree::find(std::string_view path, bool last_link_too) const {
  Walk walk(Nodes{root_.get()});
  return walk.follow(path, last_link_too) ? place_of(walk) : nullptr;
}

std::optional<std::vector<std::string>> ArchiveTree::real_path(std::string_view path) const {
  Walk walk(Nodes{root_.get()});
  if (!walk.follow(path, true)) return std::nullopt;
  return walk.names();
}

}  // namespace gdr::host
