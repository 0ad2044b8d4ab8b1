#include "doctor/capture/collector.h"

#include <algorithm>
#include <filesystem>
#include <list>

#include "base/environment.h"
#include "doctor/capture/hide.h"

namespace gdr::doctor {
namespace {

namespace fs = std::filesystem;

// What host::Files gives at most, so that nothing is kept that nobody can read.
constexpr std::size_t kMostLines = 1000;
constexpr std::size_t kConfigurationSpace = 4096, kHeader = 64;
// Far more than any machine has.
constexpr std::size_t kMostEntries = 200000;
constexpr std::size_t kMostBytes = 256 << 20;
constexpr std::size_t kMostInFolder = 20000;
constexpr int kMostLinks = 40;  // as the kernel

std::list<std::string> parts_of(const std::string& path) {
  std::list<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  return parts;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

bool is_configuration_space(const std::string& path) {
  return path.rfind("sys/", 0) == 0 && path.size() > 7 &&
         path.compare(path.size() - 7, 7, "/config") == 0;
}

}  // namespace

void Collector::note(const host::FileAccess& access) {
  const std::lock_guard lock(mutex_);
  Asked& asked = asked_[access.path];
  switch (access.kind) {
    case host::FileAccess::Kind::kText:
      asked.text = true;
      break;
    case host::FileAccess::Kind::kLines:
      asked.words.insert(access.word);
      break;
    case host::FileAccess::Kind::kFolder:
      asked.folder = true;
      break;
    case host::FileAccess::Kind::kLink:
    case host::FileAccess::Kind::kExists:
      break;
  }
}

void Collector::put(const std::string& path, std::string content) {
  put_[path] = std::move(content);
}

void Collector::add(const std::string& path, Captured captured) {
  if (path.empty()) return;
  const auto [entry, added] = capture_.entries.try_emplace(path);
  if (!added && captured.kind == entry->second.kind && captured.name_only) return;
  if (capture_.entries.size() > kMostEntries || size_ + captured.content.size() > kMostBytes) {
    if (added) capture_.entries.erase(entry);
    full_ = true;
    return;
  }
  size_ += captured.content.size();
  entry->second = std::move(captured);
}

void Collector::add_place(const std::string& path) {
  std::error_code error;
  const bool folder = fs::is_directory(root_ + "/" + path, error);
  add(path, {folder ? Captured::Kind::kFolder : Captured::Kind::kFile, true, {}});
}

// Relative, from the folder in which it stands. Outside of a captured root nothing is the
// machine's.
std::optional<std::string> Collector::link_target(const std::string& link,
                                                  const std::string& folder) const {
  std::error_code error;
  const fs::path target = fs::read_symlink(root_ + "/" + link, error);
  if (error || target.empty()) return std::nullopt;
  if (target.is_absolute()) {
    const fs::path below =
        target.lexically_normal().lexically_relative(fs::canonical(root_, error));
    if (error || below.empty() || *below.begin() == "..") return std::nullopt;
    return (fs::path("/") / below).lexically_relative(fs::path("/") / folder).string();
  }
  const fs::path inside = (fs::path(folder) / target).lexically_normal();
  if (!inside.empty() && *inside.begin() == "..") return std::nullopt;
  return target.string();
}

std::optional<std::string> Collector::follow(const std::string& path) {
  std::list<std::string> left = parts_of(path);
  std::string done;
  for (int links = 0; !left.empty();) {
    const std::string name = left.front();
    left.pop_front();
    if (name == "..") {
      if (done.empty()) return std::nullopt;
      const auto slash = done.rfind('/');
      done.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    const std::string next = joined(done, name);
    std::error_code error;
    const fs::file_status status = fs::symlink_status(root_ + "/" + next, error);
    if (error || !fs::exists(status)) return std::nullopt;
    if (!fs::is_symlink(status)) {
      done = next;
      continue;
    }
    const std::optional<std::string> target = link_target(next, done);
    if (!target || ++links > kMostLinks) return std::nullopt;
    add(next, {Captured::Kind::kLink, false, *target});
    left.splice(left.begin(), parts_of(*target));
  }
  return done;
}

void Collector::add_text(const std::string& path, const std::string& asked) {
  std::error_code error;
  if (!fs::is_regular_file(root_ + "/" + path, error)) return add_place(path);
  std::string content;
  if (is_configuration_space(path)) {
    content = files_.part(path, 0, kConfigurationSpace);
    if (content.size() == kHeader) ++cut_configs_;
    content = without_serial_number(std::move(content));
  } else {
    content = hide(asked, files_.text(path));
  }
  add(path, {Captured::Kind::kFile, false, std::move(content)});
}

// In the file's order, as many with each word as can be asked for.
void Collector::add_lines(const std::string& path, const std::set<std::string>& words) {
  std::error_code error;
  if (!fs::is_regular_file(root_ + "/" + path, error)) return add_place(path);
  std::map<std::string, std::size_t> found;
  std::string content;
  files_.each_line(path, [&](const std::string& line) {
    bool wanted = false;
    for (const std::string& word : words) {
      if (line.find(word) != std::string::npos && found[word]++ < kMostLines) wanted = true;
    }
    if (wanted) content += line + "\n";
    return content.size() < kMostBytes;
  });
  add(path, {Captured::Kind::kFile, false, hide(path, std::move(content))});
}

void Collector::add_folder(const std::string& path) {
  add_place(path);
  if (path == "proc") return;  // processes that matter have been asked for more than their names
  std::error_code error;
  std::size_t count = 0;
  for (fs::directory_iterator it(root_ + "/" + path, error), end; !error && it != end;
       it.increment(error)) {
    if (++count > kMostInFolder) {
      full_ = true;
      return;
    }
    const std::string entry = joined(path, it->path().filename());
    std::error_code status;
    if (!it->is_symlink(status)) {
      add_place(entry);
    } else {
      // Where it leads matters to those alone who ask for it, and then it is followed.
      capture_.entries.try_emplace(entry, Captured{Captured::Kind::kLink, true,
                                                   link_target(entry, path).value_or("nowhere")});
    }
  }
}

// Each process is asked for its name; only those of services are asked for more.
bool Collector::is_of_no_interest(const std::string& path) const {
  constexpr std::string_view kBegin = "proc/", kEnd = "/comm";
  if (path.rfind(kBegin, 0) != 0 || path.size() <= kBegin.size() + kEnd.size() ||
      path.compare(path.size() - kEnd.size(), kEnd.size(), kEnd) != 0) {
    return false;
  }
  return !asked_.contains(path.substr(0, path.size() - kEnd.size()) + "/limits");
}

Capture Collector::collect() {
  for (const auto& [path, asked] : asked_) {
    if (is_of_no_interest(path)) continue;
    const std::optional<std::string> place = follow(path);
    if (!place || place->empty()) continue;
    if (asked.text) {
      add_text(*place, path);
    } else if (!asked.words.empty()) {
      add_lines(*place, asked.words);
    } else if (asked.folder) {
      add_folder(*place);
    } else {
      add_place(*place);
    }
  }
  for (auto& [path, content] : put_) {
    const std::optional<std::string> place = follow(path);
    add(place ? *place : path, {Captured::Kind::kFile, false, std::move(content)});
  }
  if (cut_configs_ > 0) {
    capture_.missing.push_back("configuration space beyond its first 64 bytes of " +
                               std::to_string(cut_configs_) + " PCI functions: it takes root");
  }
  if (full_) capture_.missing.emplace_back("the rest: there is more than a capture holds");
  return std::move(capture_);
}

}  // namespace gdr::doctor
