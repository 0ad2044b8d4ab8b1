// Scratch: a folder for one piece of work, which is removed with all that is in it.
//
//   Result<Scratch> scratch = Scratch::make("/tmp");
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"

namespace gdr::peermem {

class Scratch {
 public:
  static Result<Scratch> make(const std::string& parent) {
    std::string path = parent + "/gdr-peermem-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return from_errno(path);
    return Scratch(std::move(path));
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace gdr::peermem
