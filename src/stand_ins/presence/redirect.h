// Which paths of a program belong to the software NIC's devices, and where they lie.
//
//   Redirection path("/sys/class/infiniband/soft0/fw_ver");
//   if (path.is_redirected()) return next_open(path.get(), flags);
//
// In any thread and signal handler, also between fork() and exec(): nothing is allocated.
#pragma once

#include <limits.h>

#include <string_view>

namespace gdr::presence {

// Whether `gdr run` shows devices at all: GDR_PRESENCE_ROOT is set.
bool devices_are_shown();
// The folder below which `device-files` wrote its tree, in front of "/sys/class/infiniband"; ends
// with a 0. Empty, for "/": the devices are mounted over the machine's own places, and nothing is
// redirected.
std::string_view root();
// What ports have counted: GDR_PORT_COUNTERS. Empty: nothing is counted.
const char* ports_folder();

class Redirection {
 public:
  explicit Redirection(const char* path);
  bool is_redirected() const { return path_ == room_; }
  // For character devices of the tree, all of which have the major number kVerbsMajor.
  bool is_device() const { return minor_ >= 0; }
  int minor_number() const { return minor_; }
  const char* get() const { return path_; }  // the path itself where it is not redirected

 private:
  const char* path_;
  int minor_ = -1;
  char room_[PATH_MAX];  // what get() gives, where it is redirected
};

}  // namespace gdr::presence
