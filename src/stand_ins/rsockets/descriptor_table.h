// The descriptors of a process that are rsockets, and those that wait for rsockets.
//
//   int fd = add_socket(socket);
//   std::shared_ptr<Socket> socket = find_socket(fd);      // null: not an rsocket
//   std::shared_ptr<Socket> last = remove_socket(fd);
//
// A call holds what it found, so another thread may close it meanwhile.
//
// A child of fork() has none: what its parent is connected by it can neither use nor end.
#pragma once

#include <chrono>
#include <memory>

#include "rsockets/event_poll.h"
#include "rsockets/socket.h"

namespace gdr::rsockets {

// Its descriptor; -ENOMEM.
int add_socket(std::shared_ptr<Socket> socket);
std::shared_ptr<Socket> find_socket(int descriptor);
std::shared_ptr<Socket> remove_socket(int descriptor);

int add_event_poll(std::shared_ptr<EventPoll> poll);
std::shared_ptr<EventPoll> find_event_poll(int descriptor);
std::shared_ptr<EventPoll> remove_event_poll(int descriptor);

// A socket of either kind; null: an ordinary descriptor.
std::shared_ptr<Waitable> find_waitable(int descriptor);

// When the process ends: the kernel would deliver what a program has sent, and tell its peers.
void close_all(std::chrono::steady_clock::duration longest);

}  // namespace gdr::rsockets
