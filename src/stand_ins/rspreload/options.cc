#include "rspreload/options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>
#include <sys/time.h>

#include "rspreload/real.h"
#include "rspreload/settings.h"

namespace gdr::rspreload {
namespace {

struct Option {
  int level, name;
};

constexpr Option kCopied[] = {
    {SOL_SOCKET, SO_REUSEADDR}, {SOL_SOCKET, SO_KEEPALIVE}, {SOL_SOCKET, SO_LINGER},
    {SOL_SOCKET, SO_RCVTIMEO},  {SOL_SOCKET, SO_SNDTIMEO},  {IPPROTO_TCP, TCP_NODELAY},
};

void set_size(int rsocket, int option, int value) {
  if (value != 0) rsetsockopt(rsocket, SOL_RDMA, option, &value, sizeof value);
}

}  // namespace

void set_sizes(int rsocket) {
  set_size(rsocket, RDMA_SQSIZE, settings().send_queue);
  set_size(rsocket, RDMA_RQSIZE, settings().receive_queue);
  set_size(rsocket, RDMA_INLINE, settings().inline_bytes);
}

void copy_options(int front, int rsocket) {
  for (const Option& option : kCopied) {
    alignas(timeval) char value[64];
    socklen_t length = sizeof value;
    if (real().getsockopt(front, option.level, option.name, value, &length) != 0) continue;
    rsetsockopt(rsocket, option.level, option.name, value, length);
  }
  rfcntl(rsocket, F_SETFL, is_nonblocking(front) ? O_NONBLOCK : 0);
}

bool is_nonblocking(int front) {
  const int flags = real().fcntl(front, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

}  // namespace gdr::rspreload
