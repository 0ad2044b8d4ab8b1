// Requests to NETLINK_RDMA, answered as the kernel's drivers/infiniband/core/nldev.c does for a
// RoCE device: RDMA_NLDEV_CMD_GET, PORT_GET and SYS_GET, each asked for one object or for all, and
// STAT_GET of a port.
//
//   const Receiver receiver{port_id, &send_datagram, context};
//   answer(bytes, length, root_of_the_tree, receiver);
//
// Requests come from the program: each length in them is checked. Nothing is allocated but by
// opendir().
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr::presence::netlink {

struct Receiver {
  std::uint32_t port_id = 0;  // of the socket that asks
  void (*send)(void* context, const void* datagram, std::size_t length) = nullptr;
  void* context = nullptr;
};

// All requests in `bytes`; what follows one that is too short is dropped, as by the kernel.
void answer(const void* bytes, std::size_t length, const char* root, const Receiver& to);

}  // namespace gdr::presence::netlink
