#include "rnic/event_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <limits>

namespace gdr::rnic {
namespace {

// Enough for 2,048 records. An account's pipes have 16,384 pages together before the kernel gives
// less to each, so a thousand channels must not take sixteen each, as they would by default.
constexpr int kPipeBytes = 8192;

UniqueFd open_again(int descriptor) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  return UniqueFd(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC));
}

bool holds_something(int descriptor) {
  pollfd entry{descriptor, POLLIN, 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

}  // namespace

bool is_event_pipe(int descriptor, std::uint32_t inode) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_ino == inode;
}

int put_event(int descriptor, std::uint32_t inode, std::uint32_t queue) {
  if (!is_event_pipe(descriptor, inode)) return EBADF;
  while (write(descriptor, &queue, sizeof queue) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

Result<EventPipe> EventPipe::make() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return from_errno("a completion channel's pipe");
  EventPipe pipe;
  pipe.shown_.reset(ends[0]);
  UniqueFd writer(ends[1]);
  struct stat status {};
  if (fstat(pipe.descriptor(), &status) != 0) return from_errno("a completion channel's pipe");
  pipe.inode_ = static_cast<std::uint32_t>(status.st_ino);
  (void)fcntl(writer.get(), F_SETPIPE_SZ, kPipeBytes);  // it works with any size
  pipe.own_ = open_again(ends[0]);
  if (pipe.own_) {
    if (status.st_ino <= std::numeric_limits<std::uint32_t>::max()) {
      pipe.name_ = {pipe.own_.get(), pipe.inode_};
    }
    return pipe;
  }
  if (errno == EMFILE || errno == ENFILE) return from_errno("a completion channel's pipe");
  pipe.reader_.reset(fcntl(ends[0], F_DUPFD_CLOEXEC, 0));
  if (!pipe.reader_ || fcntl(writer.get(), F_SETFL, O_NONBLOCK) != 0) {
    return from_errno("a completion channel's pipe");
  }
  pipe.own_ = std::move(writer);
  return pipe;
}

int EventPipe::read_from(int descriptor, std::uint32_t* queue) const {
  *queue = 0;
  // Fewer bytes than a record has, after junk: a record, too.
  const ssize_t got = read(descriptor, queue, sizeof *queue);
  if (got > 0) return 0;
  return got == 0 ? EBADF : errno;  // a pipe that somebody can write has no end
}

int EventPipe::take_now(std::uint32_t* queue) const {
  if (!reader_) return read_from(own_.get(), queue);
  return holds_something(reader_.get()) ? read_from(reader_.get(), queue) : EAGAIN;
}

int EventPipe::wait(std::uint32_t* queue) const { return read_from(shown_.get(), queue); }

bool EventPipe::is_empty() const {
  int bytes = 0;
  return ioctl(own_.get(), FIONREAD, &bytes) == 0 && bytes == 0;
}

}  // namespace gdr::rnic
