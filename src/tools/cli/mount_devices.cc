#include "cli/mount_devices.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "base/work_folder.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

constexpr unsigned long kWithMounts = MS_REC;

Error failed(const std::string& what) {
  return Error{errno, fmt::format("{}: {}", what, std::strerror(errno))};
}

Result<void> write_line(const char* file, const std::string& line) {
  std::ofstream stream(file);
  stream << line << std::flush;
  return stream ? Result<void>{} : Error{EPERM, fmt::format("cannot write {}", file)};
}

Result<void> enter_namespaces() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (errno != EPERM || user == 0) return failed("unshare");
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return failed("unshare");
    for (const auto& [file, line] : {std::pair{"/proc/self/setgroups", std::string("deny")},
                                     {"/proc/self/uid_map", fmt::format("{0} {0} 1", user)},
                                     {"/proc/self/gid_map", fmt::format("{0} {0} 1", group)}}) {
      if (Result<void> written = write_line(file, line); !written) return written;
    }
  }
  // What the machine mounts later is seen here; what is mounted here stays here.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return failed("mount /");
  return {};
}

Result<void> mount_again(const std::string& from, const std::string& to,
                         unsigned long recursive = 0) {
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND | recursive, nullptr) == 0) return {};
  return failed("bind " + to);
}

std::string line_of(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// A file system in memory, unmounted if nobody keeps it.
class Memory {
 public:
  static Result<Memory> over(const std::string& folder) {
    if (mount("gdrkit", folder.c_str(), "tmpfs", MS_NOSUID, "mode=755,size=16m") != 0) {
      return failed("tmpfs over " + folder);
    }
    return Memory(folder);
  }
  Memory(Memory&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (!folder_.empty()) umount2(folder_.c_str(), MNT_DETACH);
  }
  void keep() { folder_.clear(); }

 private:
  explicit Memory(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

// One entry of the folder that `original` is open on, under its name in `folder`.
Result<void> show_again(int original, const std::string& name, const std::string& folder) {
  struct stat status {};
  if (fstatat(original, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};  // gone
  const std::string to = folder + "/" + name;
  if (S_ISLNK(status.st_mode)) {
    std::string target(PATH_MAX, '\0');
    const ssize_t length = readlinkat(original, name.c_str(), target.data(), target.size());
    if (length < 0) return failed("readlink " + to);
    target.resize(static_cast<std::size_t>(length));
    return symlink(target.c_str(), to.c_str()) == 0 ? Result<void>{} : failed("symlink " + to);
  }
  const bool is_folder = S_ISDIR(status.st_mode);
  if (is_folder ? mkdir(to.c_str(), 0755) != 0 : mknod(to.c_str(), S_IFREG | 0600, 0) != 0) {
    return failed(to);
  }
  return mount_again(fmt::format("/proc/self/fd/{}/{}", original, name), to,
                     is_folder ? kWithMounts : 0);
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  return names;
}

// Makes it possible to add a folder to one in which the kernel allows none: everything that is in
// it, but for what `left_out` names, is shown again in a file system in memory, mounted over it.
Result<void> make_extensible(const std::string& folder, const std::set<std::string>& left_out) {
  const UniqueFd original(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!original) return failed(folder);
  const std::vector<std::string> names = entries_of(folder);
  Result<Memory> memory = Memory::over(folder);
  if (!memory) return memory.error();
  for (const std::string& name : names) {
    if (left_out.contains(name)) continue;
    if (Result<void> shown = show_again(original.get(), name, folder); !shown) return shown;
  }
  memory->keep();
  return {};
}

// These folders replace the machine's; into all others the tree only adds.
bool replaces(const std::string& folder) {
  return folder.starts_with("/sys/class/infiniband") || folder.starts_with("/dev/infiniband");
}

// Shows the tree: beside what the machine has, or in place of it.
class Shown {
 public:
  explicit Shown(std::string tree) : tree_(std::move(tree)) {}

  // What is in a folder that both have.
  Result<void> folder(const std::string& path) {
    for (const std::string& name : entries_of(tree_ + path)) {
      const std::string to = path + "/" + name;
      std::error_code ignored;
      const fs::file_type kind = fs::symlink_status(tree_ + to, ignored).type();
      const fs::file_type before = fs::symlink_status(to, ignored).type();
      Result<void> done;
      if (before == fs::file_type::not_found || is_of_outer_run(to)) {
        done = add(path, name);
      } else if (kind == fs::file_type::directory && replaces(to)) {
        done = mount_again(tree_ + to, to, kWithMounts);
      } else if (kind == fs::file_type::directory && before == fs::file_type::directory) {
        done = folder(to);
      }
      if (!done) return done;
    }
    return {};
  }

 private:
  // Whether that is a software NIC's PCI function, which the `gdr run` around this one shows.
  bool is_of_outer_run(const std::string& path) const {
    const std::string label = line_of(path + "/label");
    return !label.empty() && label == line_of(tree_ + path + "/label");
  }

  Result<void> add(const std::string& parent, const std::string& name) {
    // Even where the kernel would let us make it, others would see it then.
    if (!extensible_.contains(parent)) {
      std::set<std::string> replaced;
      for (const std::string& one : entries_of(tree_ + parent)) {
        if (is_of_outer_run(parent + "/" + one)) replaced.insert(one);
      }
      Result<void> extensible = make_extensible(parent, replaced);
      if (!extensible) return extensible;
      extensible_.insert(parent);
    }
    const UniqueFd from(open((tree_ + parent).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!from) return failed(tree_ + parent);
    return show_again(from.get(), name, parent);
  }

  const std::string tree_;
  std::set<std::string> extensible_;
};

// The device that a node of this name is, as the tree's own sysfs says. No driver answers to it.
std::optional<dev_t> device_of(const std::string& tree, const std::string& name) {
  for (const char* folder : {"/sys/class/infiniband_verbs/", "/sys/class/misc/"}) {
    std::ifstream file(tree + folder + name + "/dev");
    unsigned major = 0, minor = 0;
    char colon = '\0';
    if (file >> major >> colon >> minor && colon == ':') return makedev(major, minor);
  }
  return std::nullopt;
}

Result<void> make_node(const std::string& node, dev_t device) {
  const std::string made = node + ".new";
  if (mknod(made.c_str(), S_IFCHR | 0666, device) == 0) {
    return rename(made.c_str(), node.c_str()) == 0 && chmod(node.c_str(), 0666) == 0
               ? Result<void>{}
               : failed(node);
  }
  // In a user namespace nobody makes devices. To a program that only looks, /dev/null is one; the
  // connection manager's is opened and asked.
  const std::string name = fs::path(node).filename();
  if (name.starts_with("uverbs")) return mount_again("/dev/null", node);
  return unlink(node.c_str()) == 0 ? Result<void>{} : failed(node);
}

// The tree has an empty file for each character device.
Result<void> make_nodes(const std::string& tree) {
  const std::string folder = tree + "/dev/infiniband";
  for (const std::string& name : entries_of(folder)) {
    const std::optional<dev_t> device = device_of(tree, name);
    if (!device) return Error{EIO, fmt::format("no number for the device {}", name)};
    if (Result<void> made = make_node(folder + "/" + name, *device); !made) return made;
  }
  return {};
}

Result<void> mount_tree(const std::string& tree,
                        const std::function<Result<void>(const std::string& folder)>& write) {
  Result<Memory> memory = Memory::over(tree);
  if (!memory) return memory.error();
  if (Result<void> written = write(tree); !written) return written;
  if (Result<void> made = make_nodes(tree); !made) return made;
  Shown shown(tree);
  for (const char* folder : {"/sys", "/dev"}) {
    if (Result<void> done = shown.folder(folder); !done) return done;
  }
  return {};
}

}  // namespace

Result<void> mount_devices(const std::function<Result<void>(const std::string& folder)>& write) {
  const Result<WorkFolder> tree = WorkFolder::make("/tmp", "gdrkit-devices-");
  if (!tree) return tree.error();
  const Result<void> mounted = enter_namespaces();
  return mounted ? mount_tree(tree->path(), write) : mounted;
}

}  // namespace gdr::cli
