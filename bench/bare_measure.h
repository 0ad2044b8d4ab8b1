// What bare_udp measures, each for both sides: the client prints the figure.
#pragma once

#include "bare_pair.h"

namespace gdr::bench {

// Bytes of the headers that an RC write's first packet has (BTH and RETH), and of its ICRC.
constexpr std::size_t kPrefixBytes = 28;
constexpr std::size_t kCrcBytes = 4;

// One direction: delivered megabytes a second, powers of ten. An error: a packet was lost.
Result<void> send_stream(const BarePair& pair);
Result<void> receive_stream(const BarePair& pair);

// There and back: half of it, in microseconds, the median.
Result<void> ask(const BarePair& pair);
Result<void> answer(const BarePair& pair);

}  // namespace gdr::bench
