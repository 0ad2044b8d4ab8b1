// Inbox: receives a conversation's messages in a thread of its own, so that whoever waits for
// something else meanwhile notices them.
//
//   Inbox inbox(talk, bell);
//   bell.wait([&] { return inbox.has_message() || is_done(); });
//   Result<process::Received> received = inbox.take();
#pragma once

#include <atomic>
#include <deque>
#include <thread>

#include "base/result.h"
#include "fabric/messages.h"
#include "fabric/worker/rail_thread.h"

namespace gdr::fabric::worker {

class Inbox {
 public:
  // Nobody else receives from `talk` until this goes.
  Inbox(Talk& talk, Bell& bell);
  ~Inbox();

  // While the bell is held.
  bool has_message() const { return !messages_.empty(); }
  // The next one, waiting for it. The last is an error: the other end is gone, or has sent what is
  // no message.
  Result<process::Received> take();

 private:
  void run();

  Talk& talk_;
  Bell& bell_;
  std::atomic<bool> ends_ = false;
  std::deque<Result<process::Received>> messages_;
  std::thread thread_;
};

}  // namespace gdr::fabric::worker
