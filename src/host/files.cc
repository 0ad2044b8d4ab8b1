#include "host/files.h"

#include <string.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace gdr::host {
namespace {

constexpr std::size_t kLargest = 64 * 1024;
constexpr std::size_t kMostLines = 1000;

}  // namespace

std::string Files::text(const std::string& path) const {
  note(FileAccess::Kind::kText, path);
  std::ifstream file(root_ + "/" + path, std::ios::binary);
  if (!file) return {};
  std::string content(kLargest, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

std::vector<std::string> Files::lines_with(const std::string& path, const std::string& word) const {
  note(FileAccess::Kind::kLines, path, word);
  std::vector<std::string> found;
  std::ifstream file(root_ + "/" + path);
  for (std::string line; found.size() < kMostLines && std::getline(file, line);) {
    if (line.find(word) != std::string::npos) found.push_back(line.substr(0, kLargest));
  }
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
