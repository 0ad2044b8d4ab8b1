// How a connection that may be used behind a fork() becomes an rsocket (RDMAV_FORK_SAFE=1), as with
// rdma-core's library on the other side.
//
// An RDMA connection cannot be handed to a child. So the two are connected by TCP first. The side
// that accepted begins when it uses the connection: it listens by RDMA at its TCP port, writes four
// zero bytes to the TCP connection, and accepts. The side that connected waits for these bytes when
// it uses the connection, and then connects by RDMA to where its TCP connection leads. One process
// at a time has the port, so others wait for it.
//
//   switch (shake_hands(connection, front, may_wait)) ...
#pragma once

#include <poll.h>

#include "rspreload/connection.h"

namespace gdr::rspreload {

enum class Handshake {
  kDone,    // it is an rsocket, or stays TCP, as its stage says
  kWaits,   // EAGAIN
  kFailed,  // errno says why
};

bool is_undecided(const Connection& connection);

// False: it must not wait.
Handshake shake_hands(Connection& connection, int front, bool may_wait);

// What to poll for until it goes on; an rsocket or the front. A negative descriptor: for another
// process to let go of the port, which nothing tells.
pollfd awaited(const Connection& connection, int front);

}  // namespace gdr::rspreload
