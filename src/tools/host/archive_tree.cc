#include "host/archive_tree.h"

#include <limits.h>

#include <cerrno>
#include <deque>

#include "base/environment.h"
#include "base/printable.h"

namespace gdr::host {
namespace {

constexpr int kMostLinks = 40;         // as the kernel
constexpr std::size_t kDeepest = 200;  // as Root
constexpr std::size_t kMostWraps = 3;
constexpr std::size_t kMostNodes = 1'000'000;

std::vector<std::string_view> names_of(std::string_view path) {
  std::vector<std::string_view> names;
  for (const std::string_view name : split(path, '/')) {
    if (!name.empty() && name != ".") names.push_back(name);
  }
  return names;
}

Error unusable(std::string_view path, const std::string& why) {
  return Error{EINVAL, "'" + printable(path.substr(0, 200)) + "' in it " + why};
}

}  // namespace

// Follows a path by its names, each link by what it says.
class ArchiveTree::Walk {
 public:
  explicit Walk(Node* root) : root_(root) {}

  bool follow(std::string_view path, bool last_link_too) {
    last_link_too |= path.ends_with('/');
    put_in_front(path);
    while (!left_.empty()) {
      const std::string name = std::move(left_.front());
      left_.pop_front();
      if (name == "..") {
        if (!steps_.empty()) steps_.pop_back();
        continue;
      }
      if (!step_into(name, last_link_too)) return false;
    }
    return true;
  }

  Node* place() const { return steps_.empty() ? root_ : steps_.back().second; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, node] : steps_) all.push_back(name);
    return all;
  }

 private:
  void put_in_front(std::string_view path) {
    const auto names = names_of(path);
    left_.insert(left_.begin(), names.begin(), names.end());
  }

  bool step_into(const std::string& name, bool last_link_too) {
    if (steps_.size() + left_.size() >= kDeepest) return errno = ENAMETOOLONG, false;
    const Node* here = place();
    if (here->kind != FileKind::kFolder) return errno = ENOTDIR, false;
    const auto entry = here->entries.find(name);
    if (entry == here->entries.end()) return errno = ENOENT, false;
    Node* next = entry->second.get();
    if (next->kind == FileKind::kLink && (last_link_too || !left_.empty())) return turn(*next);
    if (!left_.empty() && next->kind != FileKind::kFolder) return errno = ENOTDIR, false;
    steps_.emplace_back(name, next);
    return true;
  }

  bool turn(const Node& link) {
    if (++links_ > kMostLinks) return errno = ELOOP, false;
    if (link.content.empty()) return errno = ENOENT, false;
    if (link.content[0] == '/') steps_.clear();
    put_in_front(link.content);
    return true;
  }

  Node* root_;
  int links_ = 0;
  std::deque<std::string> left_;
  std::vector<std::pair<std::string, Node*>> steps_;
};

Result<void> ArchiveTree::add(std::string_view path, FileKind kind, std::string content) {
  const std::vector<std::string_view> names = names_of(path);
  if (names.empty()) return {};  // the root itself
  if (path.size() >= PATH_MAX || names.size() >= kDeepest) {
    return unusable(path, "is too long for a path");
  }
  Walk walk(root_.get());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name(names[i]);
    if (name == "..") return unusable(path, "leaves its folder");
    Node* here = walk.place();
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
    if (!walk.follow(name, true) || walk.place()->kind != FileKind::kFolder) {
      return unusable(path, "leads through a link or a file");
    }
  }
  return {};
}

Result<void> ArchiveTree::add_copy(std::string_view path, std::string_view of) {
  Walk walk(root_.get());
  if (!walk.follow(of, false) || walk.place()->kind != FileKind::kRegular) {
    return unusable(path, "is a hard link to a missing file");
  }
  return add(path, FileKind::kRegular, walk.place()->content);
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
  Walk walk(root_.get());
  return walk.follow(path, last_link_too) ? walk.place() : nullptr;
}

std::optional<std::vector<std::string>> ArchiveTree::real_path(std::string_view path) const {
  Walk walk(root_.get());
  if (!walk.follow(path, true)) return std::nullopt;
  return walk.names();
}

}  // namespace gdr::host
