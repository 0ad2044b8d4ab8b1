// What the two other processes do, until the measuring process closes their socket.
//
// Bare copies are made by a process of their own, on the same GPU and with the same sizes: the
// driver lets one context of a process open another process's memory by cuIpcOpenMemHandle, and in
// the measuring process that is the software NIC's.
#pragma once

#include "options.h"
#include "side.h"

namespace gdr::bench {

// The peer, whose memory is written to and read.
void serve_as_peer(const Options& options, int socket, Flags& flags);
// The process that makes bare copies. Its first packet is the peer's ExportedMemory.
void serve_copies(const Options& options, int socket);

}  // namespace gdr::bench
