#include "peers/identity.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace gdr::peers {
namespace {

Error refused(const char* why) { return Error{EACCES, why}; }

std::uint64_t overflow_user() {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/sys/kernel/overflowuid", "re"),
                                                   &fclose);
  unsigned user = 65534;
  if (file != nullptr && std::fscanf(file.get(), "%u", &user) != 1) user = 65534;
  return user;
}

// Whether this user namespace has an account of that number, and does not only say it of those
// that it has not.
bool is_mapped(std::uint64_t user) {
  const std::unique_ptr<FILE, int (*)(FILE*)> map(std::fopen("/proc/self/uid_map", "re"), &fclose);
  if (map == nullptr) return false;
  unsigned long long inside = 0, outside = 0, count = 0;
  while (std::fscanf(map.get(), "%llu %llu %llu", &inside, &outside, &count) == 3) {
    if (user >= inside && user - inside < count) return true;
  }
  return false;
}

// Without pidfds (before Linux 5.3, or a filter): where /proc counts as this process does.
bool proc_counts_alike() {
  char target[32];
  const ssize_t length = readlink("/proc/self", target, sizeof target - 1);
  if (length <= 0) return false;
  target[length] = 0;
  return std::atoi(target) == getpid();
}

// Reads the line of /proc/self/fdinfo that begins with `name`, as "Pid:", for a descriptor of this
// process; nothing: there is no such line.
std::optional<int> descriptor_field(int descriptor, std::string_view name) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), &fclose);
  char line[128];
  while (file != nullptr && std::fgets(line, sizeof line, file.get()) != nullptr) {
    if (std::string_view(line).starts_with(name)) return std::atoi(line + name.size());
  }
  return std::nullopt;
}

}  // namespace

bool tells_users_apart() { return geteuid() != overflow_user() || is_mapped(geteuid()); }

bool is_connected(int connection) {
  pollfd one{connection, 0, 0};  // POLLHUP comes unasked
  return poll(&one, 1, 0) <= 0;
}

Result<Identity> identify(int connection) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return from_errno("SO_PEERCRED");
  }
  if (credentials.uid != geteuid())
    return refused("the process at the other end is another user's");
  if (!tells_users_apart()) {
    return refused("this user namespace does not tell its accounts apart");
  }
  if (credentials.pid <= 0)
    return refused("a process of a namespace that is not visible from here");
  Identity found{.pid = credentials.pid, .proc_pid = 0, .pidfd = {}};
  found.pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, credentials.pid, 0)));
  if (found.pidfd) {
    found.proc_pid = descriptor_field(found.pidfd.get(), "Pid:").value_or(0);
  } else if (proc_counts_alike()) {
    found.proc_pid = credentials.pid;
  }
  // Still connected after the pidfd was opened: so it is that of the process which connected.
  if (!is_connected(connection)) return Error{ESRCH, "the process went away"};
  if (found.proc_pid <= 0) return refused("/proc does not show the process at the other end");
  return found;
}

Result<rnic::Secret> secret_of(const Identity& process, int descriptor) {
  char path[64], target[128];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process.proc_pid, descriptor);
  const ssize_t length = readlink(path, target, sizeof target - 1);
  if (length <= 0) return refused("the kernel does not let this process debug the other one");
  target[length] = 0;
  if (const std::optional<rnic::Secret> secret = rnic::secret_in(target)) return *secret;
  return refused("a process's descriptor is no segment");
}

}  // namespace gdr::peers
