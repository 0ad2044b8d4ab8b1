// Reading small files of sysfs and procfs below a root folder. Missing files are ordinary here:
// what cannot be read is empty.
//
//   Files files("/captures/dgx");
//   std::string mac = files.line("sys/class/net/eth0/address");
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gdr::host {

class Files {
 public:
  explicit Files(std::string root) : root_(std::move(root)) {}

  // At most 64 KiB.
  std::string text(const std::string& path) const;
  // The first line, without white space around it.
  std::string line(const std::string& path) const;
  std::optional<long> number(const std::string& path) const;
  // Entry names in order of their numbers, then letters: mlx5_2 before mlx5_10.
  std::vector<std::string> entries(const std::string& path) const;
  bool exists(const std::string& path) const;
  // The last component of what a symbolic link points to.
  std::string link_name(const std::string& path) const;
  // The components below the root of what a path stands for once all symbolic links are followed;
  // none where that does not exist or lies outside of the root.
  std::vector<std::string> real_path(const std::string& path) const;

 private:
  std::string root_;
};

}  // namespace gdr::host
