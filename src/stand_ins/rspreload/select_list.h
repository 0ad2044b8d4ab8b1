// SelectList: the sets of select() as a WaitList has them. Sets may be larger than an fd_set, as
// programs make them for many descriptors.
//
//   SelectList list(count, read, write, except);
//   if (!list.is_ours()) return real().select(count, read, write, except, limit);
//   return list.wait(milliseconds);
#pragma once

#include <poll.h>
#include <sys/select.h>

#include <cstdint>

namespace gdr::rspreload {

class SelectList {
 public:
  SelectList(int count, fd_set* read, fd_set* write, fd_set* except);
  ~SelectList() { delete[] list_; }
  SelectList(const SelectList&) = delete;
  SelectList& operator=(const SelectList&) = delete;

  // Whether anything there is an rsocket or becomes one.
  bool is_ours() const { return is_ours_; }
  // As select(); less than 0: for ever.
  int wait(std::int64_t milliseconds);

 private:
  enum { kRead, kWrite, kExcept, kSets };

  short events_of(int fd) const;
  int hand_over(nfds_t used);

  const int count_;
  unsigned long* const sets_[kSets];  // null: not asked for
  bool is_ours_ = false;
  pollfd* list_ = nullptr;
};

}  // namespace gdr::rspreload
