// ScratchFolder: a folder of a test's own, which goes with it.
//
//   const ScratchFolder folder;
//   folder.write("sys/class/net/eth0/mtu", "9000\n");
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace gdr::test {

inline std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ScratchFolder {
 public:
  explicit ScratchFolder(
      const std::filesystem::path& above = std::filesystem::temp_directory_path())
      : root_(above / "gdr-test-XXXXXX") {
    std::string name = root_.string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
    root_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  std::string root() const { return root_.string(); }
  std::string at(const std::string& path) const { return (root_ / path).string(); }
  std::string make(const std::string& folder) const {
    std::filesystem::create_directories(root_ / folder);
    return at(folder);
  }
  // Returns where the file is.
  std::string write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
    return at(path);
  }
  // `target`: as the link is to say it.
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::create_directory_symlink(target, root_ / path);
  }

 protected:
  std::filesystem::path root_;
};

}  // namespace gdr::test
