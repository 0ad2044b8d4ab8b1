// The target: the process that is written to. It sleeps on its socket except when ordered.
#pragma once

namespace gdr::bench {

// What a program started as the target does; returns when the initiator closes the socket.
int run_target(int socket);

}  // namespace gdr::bench
