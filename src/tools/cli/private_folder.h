// A folder for this user alone; gone with the object, with all its files.
//
//   const PrivateFolder folder("nccl");  // /tmp/gdr-nccl-x7Yq2b; TMPDIR chooses another place
//   if (folder.name().empty()) return refuse(folder.complaint());
#pragma once

#include <string>

namespace gdr::cli {

class PrivateFolder {
 public:
  // `where`: the folder that it is made in; empty: TMPDIR, or /tmp.
  explicit PrivateFolder(const std::string& purpose, const std::string& where = "");
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  // Empty: it could not be made.
  const std::string& name() const { return name_; }
  // "cannot make a folder in /tmp: No space left on device"
  const std::string& complaint() const { return complaint_; }

 private:
  std::string name_, complaint_;
};

}  // namespace gdr::cli
