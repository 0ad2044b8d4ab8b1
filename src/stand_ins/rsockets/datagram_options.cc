// setsockopt() and getsockopt() of a datagram socket: those of its UDP socket, which the kernel
// keeps, and the sizes of its queue pairs.
#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rsockets/datagram_socket.h"
#include "rsockets/settings.h"

namespace gdr::rsockets {
namespace {

std::uint32_t twice(int asked) {
  const std::uint64_t bytes = std::uint64_t{static_cast<std::uint32_t>(asked)} * 2;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kLargestBuffer));
}

}  // namespace

int DatagramSocket::set_option(int level, int option, const void* value, socklen_t length) {
  if (value == nullptr) return -EFAULT;
  const Lock lock(mutex_);
  int number = 0;
  const bool is_number = length >= sizeof number;
  if (is_number) std::memcpy(&number, value, sizeof number);
  if (level == SOL_SOCKET && set_timeout(option, value, length) != -ENOPROTOOPT) {
    return set_timeout(option, value, length);
  }
  if (level != SOL_RDMA) {
    if (setsockopt(udp_.get(), level, option, value, length) != 0) return -errno;
    // As the kernel doubles them. Endpoints that there are already keep theirs.
    if (level == SOL_SOCKET && option == SO_RCVBUF) sizes_.receive_bytes = twice(number);
    if (level == SOL_SOCKET && option == SO_SNDBUF) sizes_.send_bytes = twice(number);
    return 0;
  }
  if (!is_number || !endpoints_.empty()) return -EINVAL;
  const auto asked = static_cast<std::uint32_t>(number);
  switch (option) {
    case RDMA_SQSIZE:
      sizes_.send_queue = std::clamp(asked, kSmallestQueue, kLargestQueue);
      return 0;
    case RDMA_RQSIZE:
      sizes_.receive_queue = std::clamp(asked, kSmallestQueue, kLargestQueue);
      return 0;
    case RDMA_INLINE:
      sizes_.inline_bytes = std::min(asked, 0xFFFFU);
      return 0;
    default:
      return -ENOPROTOOPT;
  }
}

int DatagramSocket::option(int level, int option, void* value, socklen_t* length) {
  if (value == nullptr || length == nullptr) return -EFAULT;
  const Lock lock(mutex_);
  int number = 0;
  if (level == SOL_SOCKET && option == SO_ERROR && error_ != 0) {
    number = take_error();
  } else if (level == SOL_SOCKET && timeout(option, value, length) == 0) {
    return 0;
  } else if (level != SOL_RDMA) {
    return getsockopt(udp_.get(), level, option, value, length) != 0 ? -errno : 0;
  } else if (option == RDMA_SQSIZE) {
    number = static_cast<int>(packets().sends);
  } else if (option == RDMA_RQSIZE) {
    number = static_cast<int>(packets().receives);
  } else if (option == RDMA_INLINE) {
    number = static_cast<int>(sizes_.inline_bytes);
  } else {
    return -ENOPROTOOPT;
  }
  const socklen_t size = std::min<socklen_t>(*length, sizeof number);
  std::memcpy(value, &number, size);
  *length = size;
  return 0;
}

}  // namespace gdr::rsockets
