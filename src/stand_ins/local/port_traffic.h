// What a message that was carried out within the host would have been on a wire, for the counters
// of both ports: packets at the path MTU, with their headers, and what answers them. One
// acknowledge for each message, although hardware may gather several into one.
//
//   count_traffic(requester, Arrived::kYes);   // while its target is known
//
// Hot. Nothing is counted where `gdr run` did not ask for it.
#pragma once

#include <cstdint>

#include "ports/port_file.h"

namespace gdr::local {

struct Requester;

// Messages of one kind to one port that have not been added to the counters yet: a list of requests
// adds them at once.
struct UncountedTraffic {
  ports::Port* there = nullptr;
  bool writes = false;
  std::uint32_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t more_packets = 0;  // beyond one for each message
};

// As a packet carries them.
constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 3) & ~std::uint64_t{3}; }

// Whether the other side took it, refused it (and said so), or nobody knows of it.
enum class Arrived { kYes, kRefused, kNo };

void count_traffic(Requester& requester, Arrived arrived);
// So many requests from the front on: RDMA writes, or reads, that have all been moved.
void count_moved(Requester& requester, std::uint32_t requests);
// The same for sends that are not longer than any path MTU, which all arrived: so many, and all of
// their bytes, padded.
void count_short_sends(Requester& requester, std::uint32_t messages, std::uint64_t payload);
// Adds what count_traffic() has gathered: before anybody learns that a request has completed.
void add_uncounted(Requester& requester);
// A multicast datagram, once for who sends it and once for each receiver (its target).
void count_multicast_sent(Requester& requester);
void count_multicast_taken(Requester& requester);
// No receive was there, on both sides; a NIC would have sent a NAK and have waited.
void count_not_ready(Requester& requester);
// No answer came, for all its retries.
void count_no_answer(Requester& requester);

}  // namespace gdr::local
