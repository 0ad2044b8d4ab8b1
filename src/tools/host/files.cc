#include "host/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/unique_fd.h"
#include "host/gzip.h"

namespace gdr::host {
namespace {

constexpr std::size_t kLargest = 64 * 1024;
constexpr std::size_t kMostLines = 1000;
constexpr std::size_t kLongest = 256 << 20;  // of a file that is read by lines

constexpr std::size_t kLargestPacked = 1 << 20;  // a kernel's configuration has a tenth of that
constexpr std::size_t kLongestUnpacked = 16 << 20;

constexpr std::size_t kMostEntries = 1 << 20;

bool is_regular(const UniqueFd& file) {
  struct stat status {};
  return file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

// Opening a device acts on some, and opening a pipe waits for its other end: what it is, is looked
// at first.
UniqueFd open_regular(const Root& root, const std::string& path) {
  if (root.archive() != nullptr) return root.open(path, O_RDONLY);
  if (!is_regular(root.open(path, O_PATH))) return {};
  UniqueFd file = root.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!is_regular(file)) file.reset();
  return file;
}

std::string rest_of(const UniqueFd& file, std::size_t most) {
  std::string rest;
  char chunk[4096];
  while (rest.size() < most) {
    const ssize_t got = read(file.get(), chunk, sizeof(chunk));
    if (got <= 0) break;
    rest.append(chunk, static_cast<std::size_t>(got));
  }
  return rest;
}

// Cuts text that comes in pieces into lines.
class Lines {
 public:
  explicit Lines(const std::function<bool(const std::string&)>& take) : take_(take) {}

  // False: no more are wanted.
  bool add(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      line_.append(bytes.substr(0, std::min(end, kLargest - line_.size())));
      if (end == bytes.npos) return true;
      bytes.remove_prefix(end + 1);
      if (!take_(line_)) {
        line_.clear();
        return false;
      }
      line_.clear();
    }
    return true;
  }
  void end() {
    if (!line_.empty()) take_(line_);
  }

 private:
  const std::function<bool(const std::string&)>& take_;
  std::string line_;
};

void sort(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) < 0;
  });
}

}  // namespace

std::string Files::text(const std::string& path) const { return part(path, 0, kLargest); }

std::string Files::part(const std::string& path, std::size_t offset, std::size_t count) const {
  note(FileAccess::Kind::kText, path);
  const UniqueFd file = open_regular(*folder_, path);
  if (!file) return {};
  std::string content;
  char chunk[4096];
  while (content.size() < count) {
    const ssize_t got = pread(file.get(), chunk, std::min(sizeof(chunk), count - content.size()),
                              static_cast<off_t>(offset + content.size()));
    if (got <= 0) break;
    content.append(chunk, static_cast<std::size_t>(got));
  }
  return content;
}

void Files::each_line(const std::string& path,
                      const std::function<bool(const std::string&)>& take) const {
  const UniqueFd file = open_regular(*folder_, path);
  Lines lines(take);
  char chunk[4096];
  for (std::size_t total = 0; file && total < kLongest;) {
    const ssize_t got = read(file.get(), chunk, sizeof(chunk));
    if (got <= 0) break;
    const std::string_view bytes(chunk, static_cast<std::size_t>(got));
    if (total == 0 && is_gzip(bytes)) {
      lines.add(unpack_gzip(std::string(bytes) + rest_of(file, kLargestPacked), kLongestUnpacked));
      break;
    }
    total += bytes.size();
    if (!lines.add(bytes)) return;
  }
  lines.end();
}

std::vector<std::string> Files::lines_with(const std::string& path, const std::string& word) const {
  note(FileAccess::Kind::kLines, path, word);
  std::vector<std::string> found;
  each_line(path, [&](const std::string& line) {
    if (line.find(word) != std::string::npos) found.push_back(line);
    return found.size() < kMostLines;
  });
  return found;
}

std::string Files::line(const std::string& path) const {
  const std::string content = text(path);
  const std::string first = content.substr(0, content.find('\n'));
  const auto begin = first.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return first.substr(begin, first.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<long> Files::number(const std::string& path) const {
  const std::string digits = line(path);
  long value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::vector<std::string> Files::entries(const std::string& path) const {
  note(FileAccess::Kind::kFolder, path);
  std::vector<std::string> names;
  if (const ArchiveTree* archive = folder_->archive()) {
    const ArchiveTree::Node* node = archive->find(path, true);
    if (node == nullptr) return names;
    for (const auto& [name, entry] : node->entries) names.push_back(name);
    sort(names);
    return names;
  }
  UniqueFd folder = folder_->open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (!folder) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(folder.get()), &closedir);
  if (!listing) return names;
  static_cast<void>(folder.release());  // closedir() closes it
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    names.emplace_back(name);
    if (names.size() == kMostEntries) break;
  }
  sort(names);
  return names;
}

bool Files::exists(const std::string& path) const {
  note(FileAccess::Kind::kExists, path);
  if (const ArchiveTree* archive = folder_->archive()) return archive->find(path, true) != nullptr;
  return static_cast<bool>(folder_->open(path, O_PATH));
}

std::string Files::link_name(const std::string& path) const {
  note(FileAccess::Kind::kLink, path);
  const std::string target = link_target(path);
  return target.substr(target.rfind('/') + 1);
}

std::vector<std::string> Files::real_path(const std::string& path) const {
  note(FileAccess::Kind::kLink, path);
  return folder_->real_path(path).value_or(std::vector<std::string>());
}

FileKind Files::kind(const std::string& path) const {
  if (const ArchiveTree* archive = folder_->archive()) {
    const ArchiveTree::Node* node = archive->find(path, false);
    return node == nullptr ? FileKind::kAbsent : node->kind;
  }
  const UniqueFd place = folder_->open(path, O_PATH | O_NOFOLLOW);
  struct stat status {};
  if (!place || fstat(place.get(), &status) != 0) return FileKind::kAbsent;
  if (S_ISREG(status.st_mode)) return FileKind::kRegular;
  if (S_ISDIR(status.st_mode)) return FileKind::kFolder;
  return S_ISLNK(status.st_mode) ? FileKind::kLink : FileKind::kOther;
}

std::string Files::link_target(const std::string& path) const {
  if (const ArchiveTree* archive = folder_->archive()) {
    const ArchiveTree::Node* node = archive->find(path, false);
    return node != nullptr && node->kind == FileKind::kLink ? node->content : std::string();
  }
  const UniqueFd link = folder_->open(path, O_PATH | O_NOFOLLOW);
  std::string target(PATH_MAX, '\0');
  const ssize_t size = link ? readlinkat(link.get(), "", target.data(), target.size()) : -1;
  target.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return target;
}

}  // namespace gdr::host
