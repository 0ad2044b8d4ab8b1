// One printer for every packet, used by traces, tests and fuzzers.
//
//   wire::describe(packet)   "RC RDMA Write First  qp 0x00c012  psn 0x000a07  va 0x7f..  rkey 0x..
//                             dmalen 65536  4096 bytes"
#pragma once

#include <string>

#include "wire/packet.h"

namespace gdr::wire {

std::string describe(const Packet& packet);
std::string describe(ParseError error);  // "too short for its headers"

}  // namespace gdr::wire
