// Walk: follows a path by its names, one at a time, as after chroot(2): absolute links begin at the
// root again, and ".." stays in it. Who is asked for a name is the tree: folders of this machine
// (root.cc) or what an archive holds (archive_tree.cc).
//
//   Walk<Folders> walk(Folders{root});
//   if (walk.follow("sys/class/net/eth0/address", /*last_link_too=*/true)) use(walk.place());
#pragma once

#include <cerrno>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"

namespace gdr::host {

// What stands at a path, of a link the link itself.
enum class FileKind { kAbsent, kRegular, kFolder, kLink, kOther };

// How deep a path may be, with all that links put into it: each folder on the way is a descriptor.
inline constexpr std::size_t kMostNames = 200;

// Without empty ones and ".".
inline std::vector<std::string_view> names_in(std::string_view path) {
  std::vector<std::string_view> names = split(path, '/');
  std::erase_if(names, [](std::string_view name) { return name.empty() || name == "."; });
  return names;
}

// Tree::Place is one of its files, false where there is none. A tree has
//   Place enter(const Place* folder, const std::string& name);  // null: the root; else errno
//   FileKind kind_of(const Place& place);                       // kAbsent: not known, with errno
//   std::string target_of(const Place& link);                   // empty: none
template <typename Tree>
class Walk {
 public:
  using Place = typename Tree::Place;

  explicit Walk(Tree tree) : tree_(tree) {}

  // From where the last one ended. False, with errno: it leads nowhere.
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

  // Null: the root. `above`: so many folders before it.
  const Place* place(std::size_t above = 0) const {
    return steps_.size() > above ? &steps_[steps_.size() - 1 - above].place : nullptr;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Step& step : steps_) all.push_back(step.name);
    return all;
  }

 private:
  struct Step {
    std::string name;
    Place place;
  };

  void put_in_front(std::string_view path) {
    const std::vector<std::string_view> names = names_in(path);
    left_.insert(left_.begin(), names.begin(), names.end());
  }

  bool step_into(const std::string& name, bool last_link_too) {
    if (steps_.size() + left_.size() >= kMostNames) return errno = ENAMETOOLONG, false;
    Place next = tree_.enter(place(), name);
    const FileKind kind = next ? tree_.kind_of(next) : FileKind::kAbsent;
    if (kind == FileKind::kAbsent) return false;
    if (kind == FileKind::kLink && (last_link_too || !left_.empty())) {
      return turn(tree_.target_of(next));
    }
    if (!left_.empty() && kind != FileKind::kFolder) return errno = ENOTDIR, false;
    steps_.push_back({name, std::move(next)});
    return true;
  }

  bool turn(const std::string& target) {
    constexpr int kMostLinks = 40;  // as the kernel
    if (++links_ > kMostLinks) return errno = ELOOP, false;
    if (target.empty()) return errno = ENOENT, false;
    if (target[0] == '/') steps_.clear();
    put_in_front(target);
    return true;
  }

  Tree tree_;
  int links_ = 0;
  std::deque<std::string> left_;
  std::vector<Step> steps_;
};

}  // namespace gdr::host
