// The descriptors of a process that are rsockets.
//
//   int fd = add_socket(socket);
//   std::shared_ptr<Socket> socket = find_socket(fd);      // null: not an rsocket
//   std::shared_ptr<Socket> last = remove_socket(fd);
//
// A call holds the socket that it found, so another thread may close it meanwhile.
#pragma once

#include <memory>

#include "rsockets/socket.h"

namespace gdr::rsockets {

// Its descriptor; -ENOMEM.
int add_socket(std::shared_ptr<Socket> socket);
std::shared_ptr<Socket> find_socket(int descriptor);
std::shared_ptr<Socket> remove_socket(int descriptor);

}  // namespace gdr::rsockets
