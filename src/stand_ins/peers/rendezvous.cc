#include "peers/rendezvous.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/environment.h"
#include "base/system_calls.h"
#include "peers/identity.h"
#include "rnic/shared.h"

namespace gdr::peers {
namespace {

constexpr int kCallers = 128;
constexpr Nanoseconds kLockPatience = 300 * kMillisecond;
constexpr time_t kUnusedFor = 600;  // seconds

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

std::string abstract_prefix() { return "gdrkit-rnic-" + std::to_string(geteuid()) + "-"; }

// `path` is shorter than what an address holds: see usable().
Address address_of(const std::string& path, std::uint32_t slot) {
  Address address;
  address.name.sun_family = AF_UNIX;
  // The first byte of an abstract name is 0.
  const bool abstract = path.empty();
  const std::string text = abstract ? abstract_prefix() + std::to_string(slot) : path;
  text.copy(address.name.sun_path + (abstract ? 1 : 0), sizeof address.name.sun_path - 1);
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + 1);
  return address;
}

UniqueFd seqpacket_socket() {
  return UniqueFd(system_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// A folder of this user's that no other account can enter or change.
bool is_own(const std::string& folder) {
  const UniqueFd opened(open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  return opened && fstat(opened.get(), &status) == 0 && status.st_uid == geteuid() &&
         (status.st_mode & 077) == 0 && (status.st_mode & 0700) == 0700;
}

bool make_own(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  return is_own(folder);
}

// Sockets in a folder do not care for network namespaces, which are hosts to this library.
std::string network_namespace() {
  struct stat status {};
  if (stat("/proc/self/ns/net", &status) != 0) return {};
  return "net-" + std::to_string(status.st_ino);
}

// The folder for sockets in one that is this user's own; empty: there can be none.
std::string folder_in(const std::string& own, bool make) {
  const std::string inside = network_namespace();
  if (inside.empty() || !(make ? make_own(own) : is_own(own))) return {};
  const std::string gdrkit = make ? own : own + "/gdrkit";
  const std::string folder = gdrkit + "/" + inside;
  const std::size_t longest = folder.size() + std::strlen("/1023");
  if (longest >= sizeof(sockaddr_un{}.sun_path)) return {};
  return make_own(gdrkit) && make_own(folder) ? folder : std::string();
}

bool nobody_is_there(int error) { return error == ECONNREFUSED || error == ENOENT; }

// The slot that a name ends in; 0: `digits` are no slot's number.
std::uint32_t slot_named(std::string_view digits) {
  const char* const end = digits.data() + digits.size();
  std::uint32_t slot = 0;
  const auto [rest, error] = std::from_chars(digits.data(), end, slot);
  return error == std::errc() && rest == end && slot < rnic::kSlots ? slot : 0;
}

// The number at the end of one of this user's abstract names; 0: it is none of them.
std::uint32_t slot_in(std::string_view line, std::string_view prefix) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  const std::size_t at = line.find(prefix);
  return at == std::string_view::npos ? 0 : slot_named(line.substr(at + prefix.size()));
}

// Reads the kernel's list of this network namespace. Without a value the list cannot be read here.
std::optional<std::vector<std::uint32_t>> listed_slots() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen("/proc/thread-self/net/unix", "re"), &std::fclose);
  char line[256];  // longer ones hold none of these names
  if (file == nullptr || std::fgets(line, sizeof line, file.get()) == nullptr) return std::nullopt;
  const std::string prefix = "@" + abstract_prefix();
  std::vector<std::uint32_t> found;
  while (std::fgets(line, sizeof line, file.get()) != nullptr) {
    if (const std::uint32_t slot = slot_in(line, prefix); slot != 0) found.push_back(slot);
  }
  return found;
}

// Each name is tried. One socket does for all that nobody has.
std::vector<std::uint32_t> called_slots() {
  std::vector<std::uint32_t> found;
  UniqueFd connection = seqpacket_socket();
  for (std::uint32_t slot = 1; slot < rnic::kSlots && connection; ++slot) {
    const Address address = address_of({}, slot);
    if (connect(connection.get(), address.get(), address.length) != 0 && nobody_is_there(errno)) {
      continue;
    }
    found.push_back(slot);
    connection = seqpacket_socket();
  }
  return found;
}

// Whoever listens waits for this, and its clients may be on their way, so it is not to take long:
// to try all names takes some milliseconds. While sockets end, the kernel may leave one out of its
// list that is further down: not twice.
std::vector<std::uint32_t> abstract_slots() {
  std::optional<std::vector<std::uint32_t>> found = listed_slots();
  if (!found) return called_slots();
  if (const auto again = listed_slots()) found->insert(found->end(), again->begin(), again->end());
  std::sort(found->begin(), found->end());
  found->erase(std::unique(found->begin(), found->end()), found->end());
  return *std::move(found);
}

// Between bind and listen a socket looks like that of a dead process, and what is dead may be
// another's by the time that it is removed: one process at a time does either. Whoever holds the
// lock may be stopped, and is not waited for for ever.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    const Nanoseconds end = now() + kLockPatience;
    while (file_ && !has_it_) {
      has_it_ = flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
      if (has_it_ || now() >= end) break;
      usleep(1000);
    }
  }
  bool has_it() const { return has_it_; }

 private:
  const UniqueFd file_;
  bool has_it_ = false;
};

}  // namespace

std::string MeetingPlace::path_of(std::uint32_t slot) const {
  return is_folder() ? folder_ + "/" + std::to_string(slot) : std::string();
}

Result<UniqueFd> MeetingPlace::listen_at(std::uint32_t slot) const {
  UniqueFd listener = seqpacket_socket();
  if (!listener) return from_errno("socket");
  const Address address = address_of(path_of(slot), slot);
  std::optional<FolderLock> lock;
  if (is_folder()) {
    lock.emplace(parent());
    // It may have been removed as nobody's since it was found.
    if (!make_own(folder_)) return from_errno("the folder for sockets");
    if (lock->has_it() && is_dead(slot)) unlink(path_of(slot).c_str());
  }
  if (bind(listener.get(), address.get(), address.length) != 0) return from_errno("bind");
  if (::listen(listener.get(), kCallers) != 0) return from_errno("listen");
  return listener;
}

Result<UniqueFd> MeetingPlace::call(std::uint32_t slot, Nanoseconds deadline) const {
  UniqueFd connection = seqpacket_socket();
  if (!connection) return from_errno("socket");
  const Address address = address_of(path_of(slot), slot);
  while (connect(connection.get(), address.get(), address.length) != 0) {
    if (nobody_is_there(errno)) return Error{ECONNREFUSED, "nobody holds this slot"};
    // A full queue of calls, or a signal's handler.
    if (errno != EAGAIN && errno != EINTR) return from_errno("connect");
    if (now() >= deadline) return Error{EAGAIN, "whoever holds this slot takes no calls"};
    if (errno == EAGAIN) usleep(1000);
  }
  return connection;
}

// There is a file and no process.
bool MeetingPlace::is_dead(std::uint32_t slot) const {
  struct stat status {};
  if (lstat(path_of(slot).c_str(), &status) != 0) return false;
  const Result<UniqueFd> somebody = call(slot, 0);
  return !somebody && somebody.error().code == ECONNREFUSED;
}

void MeetingPlace::sweep(const std::vector<std::uint32_t>& refused) const {
  if (!is_folder()) return;
  std::vector<std::uint32_t> left = slots();
  std::erase_if(left, [&](std::uint32_t slot) {
    return !std::binary_search(refused.begin(), refused.end(), slot);
  });
  if (left.empty()) return;
  const FolderLock lock(parent());
  if (!lock.has_it()) return;
  for (const std::uint32_t slot : left) {
    if (is_dead(slot)) unlink(path_of(slot).c_str());
  }
}

void MeetingPlace::leave(std::uint32_t slot) const {
  if (!is_folder()) return;
  unlink(path_of(slot).c_str());
  const FolderLock lock(parent());
  if (lock.has_it()) rmdir(folder_.c_str());  // unless others are in it
}

void MeetingPlace::sweep_others() const {
  if (!is_folder()) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir(parent().c_str()), &closedir);
  if (all == nullptr) return;
  const FolderLock lock(parent());
  if (!lock.has_it()) return;
  while (const dirent* entry = readdir(all.get())) {
    const std::string folder = parent() + "/" + entry->d_name;
    struct stat status {};
    if (!std::string_view(entry->d_name).starts_with("net-") || folder == folder_ ||
        !is_own(folder) || stat(folder.c_str(), &status) != 0 ||
        time(nullptr) - status.st_mtime < kUnusedFor) {
      continue;
    }
    const MeetingPlace other(folder);
    for (const std::uint32_t slot : other.slots()) {
      if (other.is_dead(slot)) unlink(other.path_of(slot).c_str());
    }
    rmdir(folder.c_str());
  }
}

std::vector<std::uint32_t> MeetingPlace::slots() const {
  std::vector<std::uint32_t> found;
  if (!is_folder()) return abstract_slots();
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(folder_.c_str()), &closedir);
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder.get())) {
    if (const std::uint32_t slot = slot_named(entry->d_name); slot != 0) found.push_back(slot);
  }
  return found;
}

std::vector<MeetingPlace> places() {
  const std::string user = std::to_string(geteuid());
  std::vector<std::string> folders;
  const auto add = [&](std::string folder) {
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.push_back(std::move(folder));
    }
  };
  if (tells_users_apart()) {
    const std::string runtime = environment("XDG_RUNTIME_DIR").value_or("");
    if (runtime.starts_with("/")) add(folder_in(runtime, false));
    add(folder_in("/run/user/" + user, false));
    add(folder_in("/tmp/gdrkit-" + user, true));
  }
  std::vector<MeetingPlace> found(folders.begin(), folders.end());
  found.emplace_back();
  return found;
}

}  // namespace gdr::peers
