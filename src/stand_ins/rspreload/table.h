// The descriptors of this process that have a connection behind them. Other descriptors cost one
// look, without a lock and without a system call, also in a signal handler.
//
//   if (Held held = find(fd)) ...
//   if (!put(fd, std::move(held))) ...   // too high a number
//   Held last = take(fd);                // close() it, then let go of the connection
//
// A child of fork() loses those that are rsockets already: it cannot use its parent's. Its calls
// go to their fronts, which are not connected. A child of vfork() has none, since it would change
// its parent's.
#pragma once

#include "rspreload/connection.h"

namespace gdr::rspreload {

Held find(int fd);
bool put(int fd, Held connection);
Held take(int fd);
// What is between them, both included, one after the other. Nothing: no more.
Held take_first_of(unsigned first, unsigned last, int& fd);

}  // namespace gdr::rspreload
