// What packets are on the port's own counters, beside those of counters.h: see ports/port_count.h.
//
//   count_event(queue_pair.port(), engine::Event::kTimeout);
#pragma once

#include <cstdint>

#include "engine/owner.h"
#include "net/mad.h"
#include "ports/port_file.h"
#include "wire/icrc.h"

namespace gdr::net {

// `bytes`: of the UDP payloads together. Hot.
void count_sent(ports::Port& port, const wire::Address& own, std::uint64_t packets,
                std::uint64_t bytes);
void count_received(ports::Port& port, const wire::Address& own, std::uint64_t packets,
                    std::uint64_t bytes);
void count_event(ports::Port& port, engine::Event event);
// A message of the connection manager, by its kind. `first`: kFirstCmSent or kFirstCmReceived.
void count_mad(ports::Port& port, std::uint32_t first, const Mad& mad);

}  // namespace gdr::net
