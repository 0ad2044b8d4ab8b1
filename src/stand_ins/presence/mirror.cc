#include "presence/mirror.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "presence/folders.h"

namespace gdr::presence {
namespace {

namespace fs = std::filesystem;

// These replace the machine's: folders of RDMA devices, and the functions of a `gdr run` around
// this one.
bool is_own(const std::string& folder, const std::string& path) {
  std::error_code ignored;
  return std::find(std::begin(kFolders), std::end(kFolders), path) != std::end(kFolders) ||
         fs::is_regular_file(fs::symlink_status(folder + path + "/label", ignored));
}

// `path`: of a folder in both, from "/sys" on.
Result<void> mirror_folder(const std::string& folder, const std::string& root,
                           const std::string& path) {
  std::error_code error;
  std::vector<std::string> shared;
  for (fs::directory_iterator entry(root + path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string below = path + "/" + entry->path().filename().string();
    const fs::file_status own = fs::symlink_status(folder + below, error);
    if (fs::is_directory(own)) {
      if (entry->symlink_status().type() == fs::file_type::directory) shared.push_back(below);
    } else if (own.type() == fs::file_type::not_found &&
               symlink((root + below).c_str(), (folder + below).c_str()) != 0) {
      return Error{errno, folder + below + ": " + std::strerror(errno)};
    }
    error.clear();
  }
  for (const std::string& below : shared) {
    if (is_own(folder, below)) continue;
    if (Result<void> done = mirror_folder(folder, root, below); !done) return done;
  }
  return {};
}

}  // namespace

Result<void> mirror_machine(const std::string& folder, const std::string& root) {
  return mirror_folder(folder, root, "/sys");
}

}  // namespace gdr::presence
