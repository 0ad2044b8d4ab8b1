// Collector: turns what was asked of a folder into files, folders and links of a capture. Links are
// kept as links, so that names lead to the same places, and the places stand where they stood.
//
//   Collector collector("/");
//   host::Files files("/", [&](const host::FileAccess& access) { collector.note(access); });
//   ... read ...
//   Capture capture = collector.collect();
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "doctor/capture/capture.h"
#include "host/files.h"

namespace gdr::doctor {

class Collector {
 public:
  explicit Collector(std::string root) : root_(std::move(root)), files_(root_) {}

  // Called by whatever thread reads.
  void note(const host::FileAccess& access);
  // In place of a file's own content, or where the machine has no such file.
  void put(const std::string& path, std::string content);

  Capture collect();

 private:
  struct Asked {
    bool text = false, folder = false;
    std::set<std::string> words;
  };

  // Where a path leads to, with each link on the way added; nothing where it leads nowhere, or to a
  // place that a capture does not name.
  std::optional<std::string> follow(const std::string& path);
  // One name on, from a folder that is no link.
  std::optional<std::string> step(const std::string& folder, const std::string& name);
  void add(const std::string& path, Captured captured);
  // Only that it is there.
  void add_place(const std::string& path);
  void add_text(const std::string& path, const std::string& asked);
  void add_lines(const std::string& path, const std::string& asked,
                 const std::set<std::string>& words);
  void add_folder(const std::string& path, const std::string& asked);
  bool is_of_no_interest(const std::string& path) const;

  std::string root_;
  host::Files files_;  // without a log
  std::mutex mutex_;
  std::map<std::string, Asked> asked_;
  std::map<std::string, std::string> put_;
  std::map<std::string, std::optional<std::string>> steps_;
  Capture capture_;
  std::size_t size_ = 0;
  bool full_ = false;
  std::size_t cut_configs_ = 0;
};

}  // namespace gdr::doctor
