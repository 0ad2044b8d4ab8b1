// The way to a file that a user has named for output, gone as the kernel would, name by name: what
// is no folder is looked at before it is followed or opened (output_file.h says what is refused).
//
//   OutputWalk walk("report.json", OutputWalk::End::kFile);
//   if (Result<void> gone = walk.go(); !gone) return gone;
//   openat(walk.folder(), walk.name().c_str(), ...);   // walk.thing() is what is there now
#pragma once

#include <sys/stat.h>

#include <deque>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr {

// Whether its group or everybody may write.
bool others_write(const struct stat& status);

class OutputWalk {
 public:
  enum class End { kFile, kFolder };  // a folder is made where there is none

  OutputWalk(const std::string& path, End end) : path_(path), end_(end) {}

  // Then folder() holds the last name, or is the last one for End::kFolder.
  Result<void> go();

  int folder() const { return folder_.get(); }
  const std::string& name() const { return name_; }
  const UniqueFd& thing() const { return thing_; }  // empty: there is none
  // The last step was a link of procfs, such as /proc/self/fd/63: name() does not lead to thing().
  bool ended_in_proc() const { return ended_in_proc_; }

 private:
  static Result<void> without_value(const Result<bool>& result) {
    return result ? Result<void>() : result.error();
  }
  bool turn(const std::string& target);
  UniqueFd folder_below() const;
  Result<void> enter();
  // False: it was a link, and the way goes on where that leads.
  Result<bool> look();
  Result<void> check(const struct stat& thing) const;

  std::string path_;
  End end_;
  UniqueFd folder_, thing_;
  std::string name_ = ".";
  std::deque<std::string> left_;
  int links_ = 0;
  bool ended_in_proc_ = false;
};

}  // namespace gdr
