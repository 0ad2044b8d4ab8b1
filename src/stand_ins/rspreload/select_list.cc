#include "rspreload/select_list.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

#include "rspreload/fork_handshake.h"
#include "rspreload/real.h"
#include "rspreload/table.h"
#include "rspreload/wait_list.h"

namespace gdr::rspreload {
namespace {

constexpr int kBits = sizeof(unsigned long) * CHAR_BIT;

// As the kernel does (fs/select.c).
constexpr short kAsked[] = {POLLIN, POLLOUT, POLLPRI};
constexpr short kFound[] = {POLLIN | POLLRDNORM | POLLHUP | POLLERR, POLLOUT | POLLWRNORM | POLLERR,
                            POLLPRI};

unsigned long* words(fd_set* set) { return reinterpret_cast<unsigned long*>(set); }

// How many descriptors this process has room for now.
int descriptor_room() {
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return FD_SETSIZE;
  char text[2048];
  const ssize_t length = real().read(file, text, sizeof text - 1);
  real().close(file);
  text[std::max<ssize_t>(length, 0)] = '\0';
  const char* found = std::strstr(text, "FDSize:");
  return found != nullptr ? std::atoi(found + std::strlen("FDSize:")) : FD_SETSIZE;
}

// As the kernel does, for programs that give the largest number that there may be: their sets are
// smaller.
int within_room(int count) {
  return count <= FD_SETSIZE ? count : std::min(count, descriptor_room());
}

bool has(const unsigned long* set, int fd) { return (set[fd / kBits] >> fd % kBits & 1) != 0; }

}  // namespace

SelectList::SelectList(int count, fd_set* read, fd_set* write, fd_set* except)
    : count_(within_room(count)), sets_{words(read), words(write), words(except)} {
  for (int fd = 0; fd < count_ && !is_ours_; ++fd) {
    if (events_of(fd) == 0) continue;
    const Held held = find(fd);
    is_ours_ = held && (held->rsocket.load() >= 0 || is_undecided(*held));
  }
}

short SelectList::events_of(int fd) const {
  int events = 0;
  for (int set = 0; set < kSets; ++set) {
    if (sets_[set] != nullptr && has(sets_[set], fd)) events |= kAsked[set];
  }
  return static_cast<short>(events);
}

int SelectList::wait(std::int64_t milliseconds) {
  list_ = new (std::nothrow) pollfd[static_cast<std::size_t>(count_)];
  if (list_ == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  nfds_t used = 0;
  for (int fd = 0; fd < count_; ++fd) {
    if (const short events = events_of(fd); events != 0) list_[used++] = {fd, events, 0};
  }
  WaitList list(list_, used);
  if (list.wait(milliseconds) < 0) return -1;
  return hand_over(used);
}

int SelectList::hand_over(nfds_t used) {
  for (nfds_t i = 0; i < used; ++i) {
    if ((list_[i].revents & POLLNVAL) == 0) continue;
    errno = EBADF;
    return -1;
  }
  for (unsigned long* set : sets_) {
    for (int word = 0; set != nullptr && word * kBits < count_; ++word) set[word] = 0;
  }
  int found = 0;
  for (nfds_t i = 0; i < used; ++i) {
    for (int set = 0; set < kSets; ++set) {
      if ((list_[i].events & kAsked[set]) == 0 || (list_[i].revents & kFound[set]) == 0) continue;
      sets_[set][list_[i].fd / kBits] |= 1UL << list_[i].fd % kBits;
      ++found;
    }
  }
  return found;
}

}  // namespace gdr::rspreload
