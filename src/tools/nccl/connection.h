// One connection of a channel, from the message that NCCL logs when it is made:
//
//   Ring 00 : 0 -> 1 [send] via NET/IB/0/GDRDMA                                (2.4)
//   Channel 02 : 1[1e000] -> 0[1d000] via P2P/IPC/read                         (2.8)
//   Channel 00/1 : 0[0] -> 8[0] [receive] via NET/IB/0(1)/GDRDMA(PCI)/Shared   (2.26)
//   Channel 00 : 0[0] -> 1[1] via SHM/direct/direct                            (2.13)
//   CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "nccl/message.h"

namespace gdr::nccl {

enum class Transport { kNet, kCollNet, kP2p, kSharedMemory, kOther };

// Both sides of a network connection log it, each its own end; P2P and shared memory log it once.
enum class Direction { kSend, kReceive, kBoth };

struct Connection {
  std::int64_t channel = 0;
  std::int64_t index = 0;  // 0 the first connection of the channel; NCCL before 2.12 does not say
  std::int64_t from = 0;   // ranks
  std::int64_t to = -1;    // -1: a collective network, which has no one peer
  Direction direction = Direction::kBoth;
  Transport transport = Transport::kOther;
  std::string kind;  // P2P: "IPC/read"; SHM: "direct/direct"; network: "IB", "AWS Libfabric"
  std::int64_t device = -1;  // of the network
  bool gdrdma = false;
  bool certain = true;  // false: the end is missing, so that GDRDMA may have stood there

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a null pointer in the generated code
  auto operator<=>(const Connection&) const = default;
};

// "NET/IB/0/GDRDMA", "P2P/CUMEM/read"
std::string name_of(const Connection& connection);

bool is_network(const Connection& connection);

// Nothing where the message is about something else.
std::optional<Connection> read_connection(const Message& message);

}  // namespace gdr::nccl
