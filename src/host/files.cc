#include "host/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/unique_fd.h"

namespace gdr::host {
namespace {

constexpr std::size_t kLargest = 64 * 1024;
constexpr std::size_t kMostLines = 1000;
constexpr std::size_t kLongest = 256 << 20;  // of a file that is read by lines

// A captured root may hold anything: opening a pipe must not wait for its other end.
UniqueFd open_regular(const std::string& place) {
  UniqueFd file(open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (file && (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) file.reset();
  return file;
}

}  // namespace

std::string Files::text(const std::string& path) const { return part(path, 0, kLargest); }

std::string Files::part(const std::string& path, std::size_t offset, std::size_t count) const {
  note(FileAccess::Kind::kText, path);
  const UniqueFd file = open_regular(root_ + "/" + path);
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
  const UniqueFd file = open_regular(root_ + "/" + path);
  std::string line;
  char chunk[4096];
  for (std::size_t total = 0; file && total < kLongest;) {
    const ssize_t got = read(file.get(), chunk, sizeof(chunk));
    if (got <= 0) break;
    total += static_cast<std::size_t>(got);
    for (const char* at = chunk; at < chunk + got;) {
      const auto left = static_cast<std::size_t>(chunk + got - at);
      const auto* end = static_cast<const char*>(memchr(at, '\n', left));
      const std::size_t size = end != nullptr ? static_cast<std::size_t>(end - at) : left;
      line.append(at, std::min(size, kLargest - line.size()));
      at += size;
      if (end == nullptr) break;
      ++at;
      if (!take(line)) return;
      line.clear();
    }
  }
  if (!line.empty()) take(line);
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
  std::error_code error;
  for (std::filesystem::directory_iterator it(root_ + "/" + path, error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename());
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) < 0;
  });
  return names;
}

bool Files::exists(const std::string& path) const {
  note(FileAccess::Kind::kExists, path);
  std::error_code error;
  return std::filesystem::exists(root_ + "/" + path, error);
}

std::string Files::link_name(const std::string& path) const {
  note(FileAccess::Kind::kLink, path);
  std::error_code error;
  const auto target = std::filesystem::read_symlink(root_ + "/" + path, error);
  return error ? std::string() : target.filename().string();
}

std::vector<std::string> Files::real_path(const std::string& path) const {
  note(FileAccess::Kind::kLink, path);
  namespace fs = std::filesystem;
  std::error_code error, root_error;
  const fs::path real = fs::canonical(root_ + "/" + path, error);
  const fs::path root = fs::canonical(root_, root_error);
  if (error || root_error) return {};
  const fs::path inside = real.lexically_relative(root);
  std::vector<std::string> names;
  for (const fs::path& name : inside) names.push_back(name);
  if (!names.empty() && names.front() == "..") return {};
  return names;
}

}  // namespace gdr::host
