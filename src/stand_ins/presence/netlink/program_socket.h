// A program's sockets of the protocol NETLINK_RDMA: real ones of another protocol, whose requests
// are answered here (README.md).
//
//   const int fd = next_socket(domain, type, shown_protocol(domain, protocol));
//   if (is_request(fd, address, address_length)) return take_request(fd, bytes, length);
#pragma once

#include <sys/socket.h>

#include <cstddef>

namespace gdr::presence::netlink {

// What a program gets for `protocol`: every other one as it is.
int shown_protocol(int domain, int protocol);

// Whether what is sent to this address (null: none is given) is meant for us.
bool is_request(int fd, const void* address, socklen_t length);

// As send() and sendmsg().
ssize_t take_request(int fd, const void* bytes, std::size_t length);
ssize_t take_request(int fd, const msghdr& message);

}  // namespace gdr::presence::netlink
