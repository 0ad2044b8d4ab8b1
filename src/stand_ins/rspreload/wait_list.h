// WaitList: descriptors of a program to wait for, some of them rsockets, as rpoll() wants them.
//
//   WaitList list(fds, count);
//   if (!list.is_ours()) return real().poll(fds, count, timeout);
//   return list.wait(timeout);
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>

namespace gdr::rspreload {

class WaitList {
 public:
  // `fds` stays the program's; wait() writes its revents.
  WaitList(pollfd* fds, nfds_t count);
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  // Whether anything there is an rsocket or becomes one. wait() is right for others, too: what it
  // says may have changed by then.
  bool is_ours() const { return is_ours_; }
  // As poll(); `milliseconds` less than 0: for ever.
  int wait(std::int64_t milliseconds);

 private:
  static constexpr nfds_t kOnStack = 64;

  bool make_room();
  void fill();
  int poll_list(std::int64_t longest);
  int hand_over();

  pollfd* const fds_;
  const nfds_t count_;
  bool is_ours_ = false;
  bool waits_for_handshake_ = false, waits_for_port_ = false;
  pollfd few_[kOnStack];
  bool few_substitutes_[kOnStack];
  std::unique_ptr<pollfd[]> many_;
  std::unique_ptr<bool[]> many_substitutes_;
  pollfd* list_ = few_;
  // Those of which list_ has what their handshake waits for.
  bool* substitutes_ = few_substitutes_;
};

}  // namespace gdr::rspreload
