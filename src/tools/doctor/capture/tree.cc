#include "doctor/capture/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/environment.h"
#include "base/output_file.h"
#include "base/unique_fd.h"

namespace gdr::doctor {
namespace {

// An entry stands in a folder, made and opened, by its own name.
struct Place {
  UniqueFd folder;
  std::string name;
};

Result<Place> place_of(const std::string& path, int root) {
  Place place{UniqueFd(openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC)), {}};
  for (const std::string_view part : split(path, '/')) {
    if (!place.name.empty()) {
      const char* name = place.name.c_str();
      if (mkdirat(place.folder.get(), name, 0700) != 0 && errno != EEXIST) return from_errno(path);
      place.folder =
          UniqueFd(openat(place.folder.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    if (!place.folder) return from_errno(path);
    place.name = part;
  }
  return place;
}

Result<void> write_entry(const std::string& path, const Captured& captured, int root) {
  Result<Place> place = place_of(path, root);
  if (!place) return place.error();
  const int folder = place->folder.get();
  const char* name = place->name.c_str();
  if (captured.kind == Captured::Kind::kFolder) {
    // It may be there: entries below it can come first.
    const bool made = mkdirat(folder, name, 0700) == 0 || errno == EEXIST;
    return made ? Result<void>() : from_errno(path);
  }
  if (captured.kind == Captured::Kind::kLink) {
    const bool made = symlinkat(captured.content.c_str(), folder, name) == 0;
    return made ? Result<void>() : from_errno(path);
  }
  const UniqueFd file(
      openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file || !write_whole(file.get(), captured.content)) return from_errno(path);
  return {};
}

Result<bool> is_empty(int folder, const std::string& name) {
  UniqueFd again(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(again ? fdopendir(again.get()) : nullptr,
                                                    &closedir);
  if (!listing) return from_errno(name);
  static_cast<void>(again.release());
  errno = 0;
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view found = entry->d_name;
    if (found != "." && found != "..") return false;
  }
  return errno == 0 ? Result<bool>(true) : from_errno(name);
}

// A part of a capture would be taken for a machine that lacks the rest.
void remove_all_in(int folder) {
  std::error_code ignored;
  const std::filesystem::directory_iterator entries("/proc/self/fd/" + std::to_string(folder),
                                                    ignored);
  for (const auto& entry : entries) std::filesystem::remove_all(entry.path(), ignored);
}

}  // namespace

Result<void> write_entries(const Capture& capture, int folder) {
  for (const auto& [path, captured] : capture.entries) {
    if (Result<void> written = write_entry(path, captured, folder); !written) return written;
  }
  return {};
}

Result<void> write_tree(const Capture& capture, const std::string& folder) {
  const bool was_there = access(folder.c_str(), F_OK) == 0;
  const Result<UniqueFd> opened = open_output_folder(folder);
  if (!opened) return opened.error();
  const Result<bool> empty = is_empty(opened->get(), folder);
  if (!empty) return empty.error();
  if (!*empty) {
    return Error{EEXIST, folder + ": folder is not empty; choose an empty one or a new name"};
  }
  const Result<void> written = write_entries(capture, opened->get());
  if (written) return {};
  remove_all_in(opened->get());
  if (!was_there) rmdir(folder.c_str());
  return Error{written.error().code, folder + ": " + written.error().message};
}

}  // namespace gdr::doctor
