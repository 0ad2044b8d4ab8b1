// Packets between the two processes, beside the software NIC, each of one struct; a descriptor may
// travel with one. The other end gone is the end of this process: nothing is left to measure.
#pragma once

#include <cstddef>

namespace gdr::bench {

void send_packet(int socket, const void* from, std::size_t size, int descriptor = -1);
// `descriptor`: becomes the one that came, for the caller to close, or -1.
void receive_packet(int socket, void* to, std::size_t size, int* descriptor = nullptr);
// False: the other end closed.
bool receive_packet_or_end(int socket, void* to, std::size_t size, int* descriptor = nullptr);

}  // namespace gdr::bench
