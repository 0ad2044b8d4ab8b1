#include "socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "fail.h"

namespace gdr::bench {
namespace {

struct Envelope {
  explicit Envelope(void* bytes, std::size_t size) : part{bytes, size} {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  iovec part;
  msghdr message{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
};

}  // namespace

void send_packet(int socket, const void* from, std::size_t size, int descriptor) {
  Envelope envelope(const_cast<void*>(from), size);
  if (descriptor < 0) {
    envelope.message.msg_controllen = 0;
  } else {
    cmsghdr* header = CMSG_FIRSTHDR(&envelope.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  if (sendmsg(socket, &envelope.message, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
    fail("the other process does not listen: %s", std::strerror(errno));
  }
}

bool receive_packet_or_end(int socket, void* to, std::size_t size, int* descriptor) {
  Envelope envelope(to, size);
  if (descriptor != nullptr) *descriptor = -1;
  ssize_t got = -1;
  do {
    got = recvmsg(socket, &envelope.message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return false;
  if (got != static_cast<ssize_t>(size)) fail("%zd of %zu bytes of a message came", got, size);
  const cmsghdr* header = CMSG_FIRSTHDR(&envelope.message);
  if (descriptor != nullptr && header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
  }
  return true;
}

void receive_packet(int socket, void* to, std::size_t size, int* descriptor) {
  if (!receive_packet_or_end(socket, to, size, descriptor)) fail("the other process ended");
}

}  // namespace gdr::bench
