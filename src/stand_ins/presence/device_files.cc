// device-files FOLDER: writes what the kernel would show of the software NIC's devices below an
// existing folder: FOLDER/sys/class/infiniband/soft0/... A character device becomes an empty file,
// over which whoever shows the tree puts one. Exit status 2, with one line on standard output, if
// that fails.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/printable.h"
#include "base/unique_fd.h"
#include "presence/tree.h"

namespace {

using gdr::Error;
using gdr::Result;

// The folders that lead to `path`, below `root`.
Result<void> make_folders(const std::string& root, const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = root + path.substr(0, slash);
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
      return Error{errno, folder + ": " + std::strerror(errno)};
    }
  }
  return {};
}

Result<void> write_file(const std::string& file, const std::string& text) {
  const gdr::UniqueFd made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!made || write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return Error{errno, file + ": " + std::strerror(errno)};
  }
  return {};
}

Result<void> write_tree(const std::string& root) {
  const auto devices = gdr::presence::read_devices();
  if (!devices) return devices.error();
  for (const gdr::presence::Entry& entry : gdr::presence::make_tree(*devices)) {
    if (Result<void> made = make_folders(root, entry.path); !made) return made;
    if (Result<void> written = write_file(root + entry.path, entry.text); !written) return written;
  }
  return {};
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::puts("device-files: one folder is needed, as in device-files /tmp/devices");
    return 2;
  }
  umask(022);
  const Result<void> written = write_tree(words[1]);
  if (written) return 0;
  std::puts(gdr::printable(written.error().message).c_str());
  return 2;
}
