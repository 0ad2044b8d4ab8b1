// device-files FOLDER [mirror] [counters]: writes what the kernel would show of the software NIC's
// devices below an existing folder: FOLDER/sys/class/infiniband/soft0/... A character device
// becomes an empty file, over which whoever shows the tree puts one. With "mirror" also what the
// preloaded library needs around devices that have a place in the PCI tree; with "counters" also
// the files of counters, which somebody has to keep up to date. Exit status 2, with one line on
// standard output, if that fails; 3 if it is because of the place that a device was to have.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/printable.h"
#include "base/unique_fd.h"
#include "presence/folders.h"
#include "presence/mirror.h"
#include "presence/tree.h"

namespace {

using gdr::Error;
using gdr::Result;

constexpr int kFailed = 2, kWrongPlace = 3;

// The folders that lead to `path`, below `root`. Those that led to `last` are there.
Result<void> make_folders(const std::string& root, const std::string& path,
                          const std::string& last) {
  const std::string_view parent(path.data(), path.rfind('/') + 1);
  if (last.starts_with(parent)) return {};
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = root + path.substr(0, slash);
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
      return Error{errno, folder + ": " + std::strerror(errno)};
    }
  }
  return {};
}

constexpr mode_t kReadOnly = 0444, kOwnersToWrite = 0644;

Result<void> write_file(const std::string& file, const std::string& text, mode_t mode) {
  const gdr::UniqueFd made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!made || write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return Error{errno, file + ": " + std::strerror(errno)};
  }
  return {};
}

Result<void> write_entry(const std::string& root, const gdr::presence::Entry& entry) {
  const std::string file = root + entry.path;
  using Kind = gdr::presence::Entry::Kind;
  // A device's node can be written to, as the kernel's.
  if (entry.kind == Kind::kDevice) return write_file(file, entry.text, kOwnersToWrite);
  if (entry.kind == Kind::kFile) return write_file(file, entry.text, kReadOnly);
  if (symlink(entry.text.c_str(), file.c_str()) == 0) return {};
  return Error{errno, file + ": " + std::strerror(errno)};
}

Result<void> write_tree(const std::vector<gdr::presence::DeviceFacts>& devices,
                        const std::string& root, bool mirror, gdr::presence::Counters counters) {
  std::string last;
  for (const gdr::presence::Entry& entry : gdr::presence::make_tree(devices, counters)) {
    if (Result<void> made = make_folders(root, entry.path, last); !made) return made;
    if (Result<void> written = write_entry(root, entry); !written) return written;
    last = entry.path;
  }
  const std::string places = gdr::presence::make_places(devices);
  if (!mirror || places.empty()) return {};
  if (places.size() > gdr::presence::kMostPlacesBytes) {
    return Error{E2BIG, "the paths of these places in the PCI tree are too long"};
  }
  if (Result<void> written = write_file(root + gdr::presence::kPlacesFile, places, kReadOnly);
      !written) {
    return written;
  }
  return gdr::presence::mirror_machine(root, "");
}

int fail(const Error& error) {
  std::puts(gdr::printable(error.message).c_str());
  return error.code == EADDRNOTAVAIL ? kWrongPlace : kFailed;
}

bool has_word(int count, char** words, const char* word) {
  for (int i = 2; i < count; ++i) {
    if (std::strcmp(words[i], word) == 0) return true;
  }
  return false;
}

}  // namespace

int main(int count, char** words) {
  const bool mirror = has_word(count, words, "mirror");
  const bool counts = has_word(count, words, "counters");
  if (count != 2 + (mirror ? 1 : 0) + (counts ? 1 : 0)) {
    std::puts("device-files: one folder is needed, as in device-files /tmp/devices");
    return kFailed;
  }
  umask(022);
  const auto devices = gdr::presence::read_devices();
  if (!devices) return fail(devices.error());
  using gdr::presence::Counters;
  const Result<void> written =
      write_tree(*devices, words[1], mirror, counts ? Counters::kYes : Counters::kNo);
  return written ? 0 : fail(written.error());
}
