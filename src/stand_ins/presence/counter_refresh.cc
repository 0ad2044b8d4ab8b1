#include "presence/counter_refresh.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "ports/attributes.h"
#include "ports/port_reader.h"
#include "ports/port_text.h"

namespace gdr::presence {
namespace {

constexpr std::string_view kPort = "/ports/1/";
constexpr std::size_t kGuidText = 19;  // 0000:0000:0000:0000

int open_file(const char* path, int flags) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC));
}

// `path`: the device's folder. 0: it has none.
std::uint64_t guid_of(std::string_view path) {
  char file[PATH_MAX];
  constexpr std::string_view kFile = "/node_guid";
  if (path.size() + kFile.size() >= sizeof file) return 0;
  std::memcpy(file, path.data(), path.size());
  std::memcpy(file + path.size(), kFile.data(), kFile.size());
  file[path.size() + kFile.size()] = '\0';
  const int fd = open_file(file, O_RDONLY);
  if (fd < 0) return 0;
  char text[kGuidText] = {};
  const long got = syscall(SYS_read, fd, text, sizeof text);
  syscall(SYS_close, fd);
  std::uint64_t guid = 0;
  for (long i = 0; i < got; ++i) {
    const char c = text[i];
    if (c == ':') continue;
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) return 0;
    guid = guid << 4 | static_cast<std::uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return guid;
}

// The path's parts: FOLDER/ports/1/GROUP/FILE.
struct Parts {
  std::string_view device;  // the folder
  std::string_view port;    // with the slash behind it
  std::string_view group, file;
};

bool take_apart(std::string_view path, Parts* parts) {
  const std::size_t at = path.rfind(kPort);
  if (at == path.npos) return false;
  const std::size_t group = at + kPort.size(), slash = path.find('/', group);
  if (slash == path.npos || path.find('/', slash + 1) != path.npos) return false;
  *parts = {path.substr(0, at), path.substr(0, group), path.substr(group, slash - group),
            path.substr(slash + 1)};
  return true;
}

void refresh(const Parts& parts, const char* ports, const char* path) {
  const ports::Attribute* attribute = ports::find_attribute(parts.group, parts.file);
  const std::string_view name = parts.device.substr(parts.device.rfind('/') + 1);
  if (attribute == nullptr || name.size() > ports::kMostDeviceName) return;
  char device[ports::kMostDeviceName + 1] = {}, file[ports::kMostFileName], folder[PATH_MAX];
  std::memcpy(device, name.data(), name.size());
  ports::PortValues values;
  if (parts.port.size() >= sizeof folder ||
      !ports::make_file_name(device, guid_of(parts.device), file) ||
      !ports::read_port(ports, file, &values)) {
    return;
  }
  std::memcpy(folder, parts.port.data(), parts.port.size());
  folder[parts.port.size()] = '\0';
  const int fd = open_file(folder, O_PATH | O_DIRECTORY);
  if (fd < 0) return;
  // Not where it is not shown.
  if (syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0) {
    ports::write_value(fd, path + parts.port.size(), attribute->value(values));
  }
  syscall(SYS_close, fd);
}

bool is_counter(std::string_view name) {
  for (const ports::Attribute& one : ports::attributes()) {
    if (name == one.name) return true;
  }
  return false;
}

// The path of what a descriptor is open on. 0: not known.
std::size_t path_of(int folder, char* path, std::size_t size) {
  char link[32] = "/proc/self/cwd";
  if (folder != AT_FDCWD) {
    if (folder < 0) return 0;
    std::size_t at = sizeof link - 1;
    for (link[at] = '\0'; at == sizeof link - 1 || folder != 0; folder /= 10) {
      link[--at] = static_cast<char>('0' + folder % 10);
    }
    constexpr std::string_view kFolder = "/proc/self/fd/";
    std::memmove(link + kFolder.size(), link + at, sizeof link - at);
    std::memcpy(link, kFolder.data(), kFolder.size());
  }
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, size);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

}  // namespace

void refresh_relative(int folder, const char* path, std::string_view root, const char* ports) {
  if (root.empty() || ports[0] == '\0' || path == nullptr || path[0] == '/') return;
  const std::string_view relative(path);
  if (!is_counter(relative.substr(relative.rfind('/') + 1))) return;
  const int error = errno;
  char whole[PATH_MAX];
  const std::size_t length = path_of(folder, whole, sizeof whole);
  if (length + relative.size() + 2 <= sizeof whole &&
      std::string_view(whole, length).starts_with(root)) {
    whole[length] = '/';
    std::memcpy(whole + length + 1, path, relative.size() + 1);
    refresh_counter(whole, ports);
  }
  errno = error;
}

void refresh_counter(const char* path, const char* ports) {
  Parts parts;
  if (ports[0] == '\0' || !take_apart(path, &parts)) return;
  const int error = errno;
  refresh(parts, ports, path);
  errno = error;
}

}  // namespace gdr::presence
