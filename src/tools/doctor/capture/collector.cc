#include "doctor/capture/collector.h"

#include <algorithm>
#include <list>

#include "base/environment.h"
#include "doctor/capture/harmless.h"

namespace gdr::doctor {
namespace {

// The most that host::Files returns; more would be unreadable.
constexpr std::size_t kMostLines = 1000;
constexpr std::size_t kConfigurationSpace = 4096, kHeader = 64;
// Far more than any machine has.
constexpr std::size_t kMostEntries = 200000;
constexpr std::size_t kMostBytes = 256 << 20;
constexpr std::size_t kMostInFolder = 20000;
constexpr const char* kNowhere = "nowhere";

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

std::string joined(const std::vector<std::string>& names) {
  std::string path;
  for (const std::string& name : names) path = joined(path, name);
  return path;
}

// How a link in `folder` says `place`.
std::string relative(const std::string& place, const std::string& folder) {
  const std::list<std::string> to = parts_of(place), from = parts_of(folder);
  auto [here, there] = std::ranges::mismatch(from, to);
  std::string path;
  for (; here != from.end(); ++here) path = joined(path, "..");
  for (; there != to.end(); ++there) path = joined(path, *there);
  return path.empty() ? "." : path;
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
  const bool folder = files_.kind(path) == host::FileKind::kFolder;
  add(path, {folder ? Captured::Kind::kFolder : Captured::Kind::kFile, true, {}});
}

std::optional<std::string> Collector::follow(const std::string& path) {
  std::string done;
  for (const std::string& name : parts_of(path)) {
    const std::optional<std::string> next = step(done, name);
    if (!next) return std::nullopt;
    done = *next;
  }
  return is_harmless_place(done) ? std::optional(done) : std::nullopt;
}

// Thousands of paths begin alike.
std::optional<std::string> Collector::step(const std::string& folder, const std::string& name) {
  if (name == "..")
    return folder.substr(0, folder.find('/') == folder.npos ? 0 : folder.rfind('/'));
  const std::string path = joined(folder, name);
  const auto [known, added] = steps_.try_emplace(path);
  if (!added) return known->second;
  const host::FileKind kind = files_.kind(path);
  if (kind == host::FileKind::kAbsent) return std::nullopt;
  if (kind != host::FileKind::kLink) return known->second = path;
  if (!is_harmless_place(path)) return std::nullopt;
  // By the place itself, and not by what lies on the way to it.
  if (const auto real = files_.real_path(path); !real.empty()) {
    const std::string place = joined(real);
    if (!is_harmless_place(place)) return std::nullopt;
    add(path, {Captured::Kind::kLink, false, relative(place, folder)});
    return known->second = place;
  }
  if (auto told = harmless_dangling(files_.link_target(path))) {
    add(path, {Captured::Kind::kLink, false, *std::move(told)});
  }
  return std::nullopt;
}

void Collector::add_text(const std::string& path, const std::string& asked) {
  if (files_.kind(path) != host::FileKind::kRegular) return add_place(path);
  if (is_configuration_space(path)) {
    const std::string space = files_.part(path, 0, kConfigurationSpace);
    if (space.size() == kHeader) ++cut_configs_;
    return add(path, {Captured::Kind::kFile, false, harmless_config_space(space)});
  }
  auto content = harmless_content(asked, files_.text(path));
  if (!content) return add_place(path);
  add(path, {Captured::Kind::kFile, false, *std::move(content)});
}

// In the file's order, as many with each word as can be asked for.
void Collector::add_lines(const std::string& path, const std::string& asked,
                          const std::set<std::string>& words) {
  if (files_.kind(path) != host::FileKind::kRegular) return add_place(path);
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
  auto kept = harmless_content(asked, content);
  if (!kept) return add_place(path);
  add(path, {Captured::Kind::kFile, false, *std::move(kept)});
}

void Collector::add_folder(const std::string& path, const std::string& asked) {
  add_place(path);
  if (path == "proc") return;  // processes that matter have been asked for more than their names
  std::size_t count = 0;
  for (const std::string& name : files_.entries(path)) {
    if (!is_harmless_name(asked, name)) continue;
    if (++count > kMostInFolder) {
      full_ = true;
      return;
    }
    const std::string entry = joined(path, name);
    if (files_.kind(entry) != host::FileKind::kLink) {
      add_place(entry);
    } else {
      // The target matters only to a check that asks for it, and then the link is followed.
      capture_.entries.try_emplace(entry, Captured{Captured::Kind::kLink, true, kNowhere});
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
    if (is_of_no_interest(path) || put_.contains(path) || !is_harmless_place(path)) continue;
    const std::optional<std::string> place = follow(path);
    if (!place || place->empty()) continue;
    if (asked.text) {
      add_text(*place, path);
    } else if (!asked.words.empty()) {
      add_lines(*place, path, asked.words);
    } else if (asked.folder) {
      add_folder(*place, path);
    } else {
      add_place(*place);
    }
  }
  for (auto& [path, content] : put_) {
    const auto slash = path.rfind('/');
    const auto folder = follow(path.substr(0, slash));
    const std::string place = folder ? joined(*folder, path.substr(slash + 1)) : path;
    add(place, {Captured::Kind::kFile, false, std::move(content)});
  }
  if (cut_configs_ > 0) {
    capture_.missing.push_back("configuration space beyond its first 64 bytes of " +
                               std::to_string(cut_configs_) + " PCI functions: run as root");
  }
  if (full_) capture_.missing.emplace_back("the rest: the capture is full");
  return std::move(capture_);
}

}  // namespace gdr::doctor
