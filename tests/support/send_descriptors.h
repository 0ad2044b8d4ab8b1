// A message over a Unix socket, with descriptors (SCM_RIGHTS of unix(7)).
#pragma once

#include <sys/socket.h>

#include <cstring>
#include <span>
#include <vector>

namespace gdr::test {

// As sendmsg(2).
inline ssize_t send_descriptors(int to, const void* message, std::size_t bytes,
                                std::span<const int> descriptors, int flags = 0) {
  iovec data{const_cast<void*>(message), bytes};
  std::vector<cmsghdr> control(CMSG_SPACE(descriptors.size_bytes()) / sizeof(cmsghdr) + 1);
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(to, &header, flags);
}

}  // namespace gdr::test
