// What a program does with sockets as descriptors: close, dup, fcntl, ioctl, sendfile.
#include <linux/sockios.h>
#include <rdma/rsocket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>

#include "rspreload/real.h"
#include "rspreload/route.h"

namespace gdr::rspreload {
namespace {

constexpr std::size_t kPiece = 16 << 10;  // threads may have small stacks

// `made` is another descriptor of what is behind `fd`.
int share(int fd, int made) {
  if (made < 0 || made == fd) return made;
  const int before = errno;
  const Held old = take(made);
  if (const Held held = find(fd)) put(made, held.again());
  errno = before;
  return made;
}

int control(int fd, int command, void* argument) {
  const Route to(fd, Touch::kState);
  const int result = real().fcntl(fd, command, argument);
  if (result < 0) return result;
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return share(fd, result);
  // The front knows its flags; the rsocket has to know whether to wait.
  if (command == F_SETFL && to.is_rsocket()) {
    const auto flags = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
    return rfcntl(to.rsocket(), F_SETFL, flags & O_NONBLOCK);
  }
  return result;
}

// What a read would give at once, as far as one buffer goes.
int count_readable(const Route& to, int* into) {
  char buffer[kPiece];
  const int flags = MSG_PEEK | MSG_DONTWAIT | (to.is_stream() ? 0 : MSG_TRUNC);
  const ssize_t length = rrecv(to.rsocket(), buffer, sizeof buffer, flags);
  if (length < 0 && errno != EAGAIN) return -1;
  *into = static_cast<int>(std::max<ssize_t>(length, 0));
  return 0;
}

int control_device(int fd, const Route& to, unsigned long request, void* argument) {
  switch (request) {
    case FIONREAD:
      return count_readable(to, static_cast<int*>(argument));
    case FIONBIO: {
      const int on = *static_cast<int*>(argument);
      if (rfcntl(to.rsocket(), F_SETFL, on != 0 ? O_NONBLOCK : 0) < 0) return -1;
      return real().ioctl(fd, FIONBIO, argument);
    }
    case SIOCOUTQ:
    case SIOCATMARK:
      *static_cast<int*>(argument) = 0;
      return 0;
    default:
      return real().ioctl(fd, request, argument);
  }
}

bool can_be_sent(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return false;
  if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode)) return true;
  errno = EINVAL;
  return false;
}

// Bytes of the file from `at` on. Less than 0: nothing was sent, and errno says why.
ssize_t send_from(const Route& to, int file, off_t at, std::size_t count) {
  char piece[kPiece];
  std::size_t done = 0;
  while (done < count) {
    const std::size_t wanted = std::min(count - done, sizeof piece);
    const ssize_t length = pread(file, piece, wanted, at + static_cast<off_t>(done));
    if (length <= 0) return done > 0 || length == 0 ? static_cast<ssize_t>(done) : -1;
    const ssize_t sent = rsend(to.rsocket(), piece, static_cast<std::size_t>(length), 0);
    if (sent < 0) return done > 0 ? static_cast<ssize_t>(done) : -1;
    done += static_cast<std::size_t>(sent);
    if (sent < length) break;
  }
  return static_cast<ssize_t>(done);
}

ssize_t send_file(int fd, int file, off_t* offset, std::size_t count) {
  const Route to(fd, Touch::kData);
  if (to.failed()) return -1;
  if (!to.is_rsocket()) return real().sendfile(fd, file, offset, count);
  if (!can_be_sent(file)) return -1;
  const off_t at = offset != nullptr ? *offset : lseek(file, 0, SEEK_CUR);
  if (at < 0) {
    errno = EINVAL;
    return -1;
  }
  const ssize_t sent = send_from(to, file, at, std::min<std::size_t>(count, INT_MAX));
  if (sent <= 0) return sent;
  if (offset != nullptr) {
    *offset = at + sent;
  } else {
    lseek(file, at + sent, SEEK_SET);
  }
  return sent;
}

}  // namespace
}  // namespace gdr::rspreload

using namespace gdr::rspreload;  // NOLINT: this file is the C interface of the namespace

// The number is free for another thread as soon as the front is closed, so it leaves the table
// first. The connection ends behind it, which may wait until all has been delivered.
GDR_SHOWN int close(int fd) {
  const Held last = take(fd);
  return real().close(fd);
}

GDR_SHOWN int close_range(unsigned first, unsigned last, int flags) noexcept {
  if (real().close_range == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  constexpr unsigned kToExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC closes nothing now
  if ((flags & kToExec) == 0) {
    int fd = -1;
    while (const Held one = take_first_of(first, last, fd)) real().close(fd);
  }
  return real().close_range(first, last, flags);
}

GDR_SHOWN void closefrom(int first) noexcept {
  int fd = -1;
  while (const Held one = take_first_of(static_cast<unsigned>(std::max(first, 0)), UINT_MAX, fd)) {
    real().close(fd);
  }
  if (real().closefrom != nullptr) real().closefrom(first);
}

GDR_SHOWN int dup(int fd) noexcept { return share(fd, real().dup(fd)); }

GDR_SHOWN int dup2(int fd, int wanted) noexcept { return share(fd, real().dup2(fd, wanted)); }

GDR_SHOWN int dup3(int fd, int wanted, int flags) noexcept {
  return share(fd, real().dup3(fd, wanted, flags));
}

// Every command has one argument or none, of a register's size.
GDR_SHOWN int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return control(fd, command, argument);
}

GDR_SHOWN int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return control(fd, command, argument);
}

GDR_SHOWN int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  void* const argument = va_arg(list, void*);
  va_end(list);
  const Route to(fd, Touch::kState);
  return to.is_rsocket() ? control_device(fd, to, request, argument)
                         : real().ioctl(fd, request, argument);
}

GDR_SHOWN ssize_t sendfile(int fd, int file, off_t* offset, std::size_t count) noexcept {
  return send_file(fd, file, offset, count);
}

GDR_SHOWN ssize_t sendfile64(int fd, int file, off64_t* offset, std::size_t count) noexcept {
  return send_file(fd, file, offset, count);
}
