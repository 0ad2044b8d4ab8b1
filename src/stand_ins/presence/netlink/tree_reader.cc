#include "presence/netlink/tree_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gdr::presence::netlink {
namespace {

constexpr const char* kClass = "/sys/class/infiniband";
constexpr unsigned long kMostGids = 65536;

}  // namespace

TreeReader::TreeReader(const char* root) : root_(root) {
  char path[PATH_MAX];
  const int length = std::snprintf(path, sizeof path, "%s%s", root_, kClass);
  DIR* folder = length < static_cast<int>(sizeof path) ? opendir(path) : nullptr;
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.' && std::strlen(entry->d_name) < kMostText) add(entry->d_name);
  }
  closedir(folder);
}

void TreeReader::add(const char* name) {
  if (count_ == kMostDevices) return;
  std::uint32_t at = count_++;
  for (; at > 0 && std::strcmp(names_[at - 1].bytes, name) > 0; --at) names_[at] = names_[at - 1];
  names_[at] = {};
  std::memcpy(names_[at].bytes, name, std::strlen(name));
}

Text TreeReader::read(std::uint32_t device, const char* file) const {
  Text text;
  char path[PATH_MAX];
  const int length =
      std::snprintf(path, sizeof path, "%s%s/%s/%s", root_, kClass, name(device), file);
  if (length >= static_cast<int>(sizeof path)) return text;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  if (::read(fd, text.bytes, kMostText - 1) < 0) text = {};
  close(fd);
  text.bytes[std::strcspn(text.bytes, "\n")] = '\0';
  return text;
}

std::uint32_t TreeReader::ports(std::uint32_t device) const {
  std::uint32_t port = 0;
  char file[kMostText];
  do {
    std::snprintf(file, sizeof file, "ports/%u/state", ++port);
  } while (port < 255 && read(device, file).bytes[0] != '\0');
  return port - 1;
}

Text TreeReader::firmware(std::uint32_t device) const { return read(device, "fw_ver"); }

std::uint64_t TreeReader::guid(std::uint32_t device, const char* file) const {
  const Text text = read(device, file);
  unsigned parts[4] = {};
  if (std::sscanf(text.bytes, "%4x:%4x:%4x:%4x", parts, parts + 1, parts + 2, parts + 3) != 4) {
    return 0;
  }
  std::uint64_t guid = 0;
  for (const unsigned part : parts) guid = guid << 16 | part;
  return guid;
}

std::uint8_t TreeReader::node_type(std::uint32_t device) const {
  return static_cast<std::uint8_t>(std::strtoul(read(device, "node_type").bytes, nullptr, 10));
}

std::uint8_t TreeReader::port_number(std::uint32_t device, std::uint32_t port,
                                     const char* file) const {
  char path[kMostText];
  std::snprintf(path, sizeof path, "ports/%u/%s", port, file);
  return static_cast<std::uint8_t>(std::strtoul(read(device, path).bytes, nullptr, 10));
}

// The interface of the GID with the lowest index that has one.
Text TreeReader::interface(std::uint32_t device, std::uint32_t port) const {
  char path[PATH_MAX];
  const int length = std::snprintf(path, sizeof path, "%s%s/%s/ports/%u/gid_attrs/ndevs", root_,
                                   kClass, name(device), port);
  DIR* folder = length < static_cast<int>(sizeof path) ? opendir(path) : nullptr;
  if (folder == nullptr) return {};
  unsigned long lowest = kMostGids;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    const unsigned long index = std::strtoul(entry->d_name, nullptr, 10);
    if (index < lowest) lowest = index;
  }
  closedir(folder);
  if (lowest == kMostGids) return {};
  char file[kMostText];
  std::snprintf(file, sizeof file, "ports/%u/gid_attrs/ndevs/%lu", port, lowest);
  return read(device, file);
}

}  // namespace gdr::presence::netlink
