// What every socket needs that packets leave from: see udp_port.h.
#pragma once

namespace gdr::net {

constexpr int kEcnCapable = 2;  // ECT(0), RFC 3168

bool set_option(int socket, int level, int name, int value);
// Room in its buffers, "do not fragment", and ECN.
bool set_packet_options(int socket, bool ipv4);

}  // namespace gdr::net
