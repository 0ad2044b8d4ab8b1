#include "local/handshake.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace gdr::local {
namespace {

struct Message {
  std::uint64_t magic;
  std::uint32_t layout;
  rnic::Token token;
};

constexpr std::size_t kDescriptors = 2;

// A signal's handler interrupts a call; however many come, they do not keep one here for longer.
constexpr Nanoseconds kPatience = 300 * kMillisecond;

template <typename Call>
ssize_t uninterrupted(const Call& call) {
  const Nanoseconds end = now() + kPatience;
  while (true) {
    const ssize_t result = call();
    if (result >= 0 || errno != EINTR) return result;
    if (now() >= end) {
      errno = EAGAIN;
      return -1;
    }
  }
}

struct alignas(cmsghdr) Control {
  char bytes[CMSG_SPACE(sizeof(int) * kDescriptors)];
};

// Takes ownership of every descriptor that came, wanted or not.
std::size_t take_descriptors(msghdr& header, UniqueFd (&taken)[kDescriptors]) {
  std::size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t present = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < present; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
      UniqueFd owned(descriptor);
      if (count < kDescriptors) taken[count] = std::move(owned);
      ++count;
    }
  }
  return count;
}

}  // namespace

Result<void> send_introduction(int connection, rnic::Token token, int segment, int doorbell) {
  Message message{rnic::kSegmentMagic, rnic::kSegmentLayout, token};
  iovec bytes{&message, sizeof message};
  Control control{};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int) * kDescriptors);
  const int descriptors[kDescriptors] = {segment, doorbell};
  std::memcpy(CMSG_DATA(part), descriptors, sizeof descriptors);
  const ssize_t sent = uninterrupted([&] { return sendmsg(connection, &header, MSG_NOSIGNAL); });
  if (sent != static_cast<ssize_t>(sizeof message)) {
    return from_errno("introducing this process");
  }
  return {};
}

Result<Introduction> receive_introduction(int connection, Wait wait) {
  Message message{};
  iovec bytes{&message, sizeof message};
  Control control{};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  const int flags = MSG_CMSG_CLOEXEC | (wait == Wait::kNo ? MSG_DONTWAIT : 0);
  const ssize_t received = uninterrupted([&] { return recvmsg(connection, &header, flags); });
  if (received == 0) return Error{ECONNRESET, "the process went away"};
  if (received < 0) {
    return from_errno("a process's introduction");
  }
  UniqueFd descriptors[kDescriptors];
  const std::size_t count = take_descriptors(header, descriptors);
  if (received != static_cast<ssize_t>(sizeof message) || (header.msg_flags & MSG_TRUNC) != 0 ||
      count != kDescriptors || message.magic != rnic::kSegmentMagic || message.token == 0) {
    return Error{EPROTO, "a process's introduction is not one"};
  }
  if (message.layout != rnic::kSegmentLayout) {
    return Error{EPROTO, "a process runs another version of gdrkit"};
  }
  return Introduction{message.token, std::move(descriptors[0]), std::move(descriptors[1])};
}

}  // namespace gdr::local
