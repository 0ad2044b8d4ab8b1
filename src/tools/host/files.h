// Reading small files of sysfs and procfs below a root folder, or of what an archive holds. Missing
// files are ordinary here: what cannot be read is empty.
//
//   Files files("/captures/dgx");
//   std::string mac = files.line("sys/class/net/eth0/address");
//
// A captured root may hold anything: links lead nowhere outside of it (root.h), and of what is no
// regular file nothing is opened.
//
// A log records every request; a capture holds exactly these files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/root.h"

namespace gdr::host {

// What was asked of a path. Called by whatever thread reads.
struct FileAccess {
  enum class Kind { kText, kLines, kFolder, kLink, kExists };
  Kind kind;
  std::string path;
  std::string word;  // of kLines
};
using FileLog = std::function<void(const FileAccess&)>;

class Files {
 public:
  explicit Files(std::string root, FileLog log = {})
      : root_(std::move(root)),
        folder_(std::make_shared<const Root>(root_)),
        log_(std::move(log)) {}

  const std::string& root() const { return root_; }
  // Why there is nothing to read: no folder and no archive. Empty: well.
  const std::string& problem() const { return folder_->problem(); }
  // This machine, as it is now; else a captured one, which cannot be probed or changed.
  bool is_live() const { return root_ == "/"; }

  // At most 64 KiB.
  std::string text(const std::string& path) const;
  // At most `count` bytes from `offset` on, for files of which each byte costs: configuration
  // space.
  std::string part(const std::string& path, std::size_t offset, std::size_t count) const;
  // The lines of a file of any length that have `word` in them, 1000 at most: of /proc/kallsyms,
  // modules.dep.
  std::vector<std::string> lines_with(const std::string& path, const std::string& word) const;
  // All lines of a file, each cut off at 64 KiB, until one is not taken. It is not logged. A file
  // that gzip packed is read unpacked.
  void each_line(const std::string& path,
                 const std::function<bool(const std::string&)>& take) const;
  // The first line, without white space around it.
  std::string line(const std::string& path) const;
  std::optional<long> number(const std::string& path) const;
  // Entry names in order of their numbers, then letters: mlx5_2 before mlx5_10. A million at most.
  std::vector<std::string> entries(const std::string& path) const;
  bool exists(const std::string& path) const;
  // The last component of what a symbolic link points to.
  std::string link_name(const std::string& path) const;
  // The components below the root of what a path stands for once all symbolic links are followed;
  // none where that does not exist.
  std::vector<std::string> real_path(const std::string& path) const;

  // Neither is logged.
  FileKind kind(const std::string& path) const;
  // All that a link says; empty for what is none.
  std::string link_target(const std::string& path) const;

  // For who needs more of a file than is read here.
  const Root& folder() const { return *folder_; }

 private:
  void note(FileAccess::Kind kind, const std::string& path, const std::string& word = {}) const {
    if (log_) log_({kind, path, word});
  }

  std::string root_;
  std::shared_ptr<const Root> folder_;
  FileLog log_;
};

}  // namespace gdr::host
