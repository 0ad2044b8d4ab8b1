// CopyThread: has the GPU's driver copy what packets bring to GPU memory and what they take from
// it, tells and answers what has waited for that, and sends. It exists once GPU memory is
// registered and something goes by packets, beside the ProgressThread, which takes what arrives:
// each direction has a thread, and what arrives does not wait for the driver.
//
// While copies are under way it does not sleep, nor for a moment after: to be woken takes longer
// than most copies.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "net/doorbell.h"

namespace gdr::net {

class PacketPath;

class CopyThread {
 public:
  explicit CopyThread(PacketPath& path) : path_(path) {}
  Result<void> start();
  // There is work for PacketPath::move(). Any thread. Hot.
  void wake() { doorbell_.ring(); }
  void close_in_child() { doorbell_.close(); }

 private:
  void run();
  void sleep();

  PacketPath& path_;
  Doorbell doorbell_;
  Nanoseconds awake_until_ = 0;  // the thread's own
};

}  // namespace gdr::net
