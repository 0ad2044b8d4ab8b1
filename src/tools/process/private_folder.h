// A folder for this account alone, in which nobody else can change what is compiled or run; gone
// with the object, with all its files.
//
//   Result<PrivateFolder> folder = PrivateFolder::make("nccl");  // /tmp/gdr-nccl-x7Yq2b
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace gdr::process {

class PrivateFolder {
 public:
  // `where`: the folder that it is made in; empty: TMPDIR, or /tmp, and the error says how to
  // choose another one. EPERM: another account could rename it there, and put its own in its place.
  static Result<PrivateFolder> make(const std::string& purpose, const std::string& where = "");
  PrivateFolder(PrivateFolder&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  const std::string& name() const { return name_; }

 private:
  explicit PrivateFolder(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

}  // namespace gdr::process
