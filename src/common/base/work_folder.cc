#include "base/work_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/leftovers.h"

namespace gdr {
namespace {

constexpr int kMostFolders = 16;  // the sweeps of others may take one before it is held

}  // namespace

Result<WorkFolder> WorkFolder::make(const std::string& parent, const std::string& prefix) {
  const UniqueFd around(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (around) sweep_leftovers(around.get(), prefix, Leftover::kFolder);
  for (int i = 0; i < kMostFolders; ++i) {
    std::string path = parent + "/" + prefix + random_ending();
    if (mkdir(path.c_str(), kSweptFolder) != 0) {
      if (errno == EEXIST) continue;
      return from_errno("cannot make a folder in " + parent);
    }
    UniqueFd made(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (made && hold(made.get())) return WorkFolder(std::move(path), std::move(made));
  }
  return from_errno("cannot make a folder in " + parent);
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace gdr
