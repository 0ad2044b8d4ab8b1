// What the two processes say to each other over their socket, beside the software NIC: each
// message is one packet of one struct.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "bare_events.h"

namespace gdr::bench {

// The buffers that both processes have, each with its twin in the other.
enum BufferId : std::uint32_t {
  kSmallBuffer,     // 64 KiB of ordinary pages
  kOneMiB,          // of ordinary pages, below the size from which registration collapses pages
  kEightMiB,        // of ordinary pages
  kEightMiBOfHuge,  // of huge pages, if the kernel agrees
  kBuffers,
};

struct RemoteBuffer {
  std::uint64_t address = 0;
  std::uint64_t huge_bytes = 0;
  std::uint32_t key = 0;
};

struct Introduction {
  ibv_gid gid{};
  std::uint32_t qp_number = 0;
  RemoteBuffer buffers[kBuffers];
  BareEvents::Numbers bare_events{};  // that the target has inherited from the initiator
};

enum class Order : std::uint32_t {
  kClear,          // zeroes in `buffer`
  kHash,           // answers with the hash of the first `count` bytes of `buffer`
  kPostReceives,   // tops up to `count` posted receives
  kTakeReceives,   // polls until `count` receives have completed
  kPingPong,       // answers `count` messages, polling
  kEventPingPong,  // answers `count` messages, sleeping in between
  kBarePingPong,   // answers `count` wake-ups by bare eventfds
};

struct Message {
  Order order = Order::kClear;
  std::uint32_t buffer = 0;
  std::uint64_t count = 0;
  std::uint64_t value = 0;
};

// The other end gone is the end of this process: nothing is left to measure.
void send_struct(int socket, const void* from, std::size_t size);
void receive_struct(int socket, void* to, std::size_t size);

}  // namespace gdr::bench
