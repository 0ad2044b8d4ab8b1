#include "presence/redirect.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ports/port_file.h"
#include "presence/folders.h"

namespace gdr::presence {
namespace {

constexpr std::string_view kVerbsNode = "/dev/infiniband/uverbs";
constexpr std::string_view kConnectionManagerNode = "/dev/infiniband/rdma_cm";
constexpr std::string_view kAll = "all ", kList = "list ";

// Copied: a program may change its environment.
struct Root {
  bool is_shown = false;
  std::size_t length = 0;
  char text[PATH_MAX / 2] = {};
  char ports[PATH_MAX / 2] = {};
  std::size_t places_length = 0;
  char places[kMostPlacesBytes] = {};  // see make_places(): whole lines
};

// By system calls: the library's own open() asks for what is being read here.
void read_places(Root& root) {
  char file[sizeof root.text + 16];
  std::memcpy(file, root.text, root.length);
  std::memcpy(file + root.length, kPlacesFile, sizeof kPlacesFile);
  const auto fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return;
  const long bytes = syscall(SYS_read, fd, root.places, sizeof root.places);
  syscall(SYS_close, fd);
  if (bytes > 0) root.places_length = static_cast<std::size_t>(bytes);
}

const Root& read_root() {
  static Root read;
  static std::atomic<int> state{0};  // 1: being read, 2: read
  int expected = 0;
  if (state.load(std::memory_order_acquire) == 2) return read;
  if (state.compare_exchange_strong(expected, 1)) {
    const int error = errno;
    const char* value = std::getenv("GDR_PRESENCE_ROOT");
    const std::size_t length = value != nullptr ? std::strlen(value) : 0;
    read.is_shown = length != 0 && length < sizeof read.text && value[0] == '/';
    if (read.is_shown && length > 1) {
      std::memcpy(read.text, value, length);
      read.length = length;
      read_places(read);
      const char* ports = std::getenv(ports::kPortsVariable);
      if (ports != nullptr && ports[0] == '/' && std::strlen(ports) < sizeof read.ports) {
        std::memcpy(read.ports, ports, std::strlen(ports));
      }
    }
    errno = error;
    state.store(2, std::memory_order_release);
    return read;
  }
  static const Root kNone;
  return state.load(std::memory_order_acquire) == 2 ? read : kNone;
}

bool is_at_or_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_in_place(std::string_view path, const Root& root) {
  std::string_view places(root.places, root.places_length);
  while (!places.empty()) {
    const std::size_t end = std::min(places.find('\n'), places.size());
    const std::string_view line = places.substr(0, end);
    places.remove_prefix(std::min(end + 1, places.size()));
    if (line.starts_with(kAll) && is_at_or_below(path, line.substr(kAll.size()))) return true;
    if (!line.starts_with(kList)) continue;
    const std::string_view list = line.substr(kList.size());
    if (path.starts_with(list) && path.find_first_not_of('/', list.size()) == path.npos) {
      return true;
    }
  }
  return false;
}

bool is_in_tree(std::string_view path, const Root& root) {
  for (const std::string_view folder : kFolders) {
    if (is_at_or_below(path, folder)) return true;
  }
  return root.places_length != 0 && is_in_place(path, root);
}

// uverbs0 to uverbs99, and the connection manager's.
int verbs_minor_of(std::string_view path) {
  if (path == kConnectionManagerNode) return kFirstVerbsMinor + kConnectionManagerNumber;
  if (!path.starts_with(kVerbsNode)) return -1;
  const std::string_view digits = path.substr(kVerbsNode.size());
  if (digits.empty() || digits.size() > 2) return -1;
  int number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return -1;
    number = number * 10 + (digit - '0');
  }
  return kFirstVerbsMinor + number;
}

}  // namespace

bool devices_are_shown() { return read_root().is_shown; }

std::string_view root() {
  const Root& read = read_root();
  return {read.text, read.length};
}

const char* ports_folder() { return read_root().ports; }

Redirection::Redirection(const char* path) : path_(path) {
  // What most calls are told apart by.
  if (path == nullptr || path[0] != '/' || (path[1] != 's' && path[1] != 'd')) return;
  const std::string_view folder = root(), text(path);
  if (folder.empty() || !is_in_tree(text, read_root())) return;
  if (folder.size() + text.size() >= sizeof room_) return;
  std::memcpy(room_, folder.data(), folder.size());
  std::memcpy(room_ + folder.size(), text.data(), text.size() + 1);
  path_ = room_;
  minor_ = verbs_minor_of(text);
}

}  // namespace gdr::presence
