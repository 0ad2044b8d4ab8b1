#include <array>

#include "matrix_player.h"

namespace gdr::test {
namespace {

std::vector<ibv_qp_type> transports_of(Operation operation) {
  switch (operation) {
    case Operation::kSend:
      return {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND};
    case Operation::kWrite:
      return {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_XRC_SEND};
    default:
      return {IBV_QPT_RC, IBV_QPT_XRC_SEND};
  }
}

}  // namespace

std::vector<Mode> every_mode() {
  std::vector<Mode> modes;
  for (const auto operation :
       {Operation::kSend, Operation::kWrite, Operation::kRead, Operation::kAtomic}) {
    const bool own_bytes = operation == Operation::kSend || operation == Operation::kWrite;
    for (const ibv_qp_type transport : transports_of(operation)) {
      for (const auto queues : {Queues::kOne, Queues::kEight, Queues::kEightShared}) {
        // Only sends take receives, and a UC queue pair has none to share.
        if (queues == Queues::kEightShared &&
            (operation != Operation::kSend || transport == IBV_QPT_UC)) {
          continue;
        }
        for (int bits = 0; bits < 8; ++bits) {
          const bool carried_inline = (bits & 2) != 0;
          if (carried_inline && !own_bytes) continue;
          modes.push_back(
              {operation, transport, (bits & 1) != 0, carried_inline, queues, (bits & 4) != 0});
        }
      }
    }
  }
  return modes;
}

namespace {

const char* transport_name(ibv_qp_type transport) {
  switch (transport) {
    case IBV_QPT_RC:
      return "Rc";
    case IBV_QPT_UC:
      return "Uc";
    case IBV_QPT_UD:
      return "Ud";
    default:
      return "Xrc";
  }
}

}  // namespace

std::string name_of(const Mode& mode) {
  const std::array<const char*, 4> operations = {"Send", "Write", "Read", "Atomic"};
  const std::array<const char*, 3> queues = {"", "EightQueuePairs", "SharedReceiveQueue"};
  std::string name = operations[static_cast<std::size_t>(mode.operation)];
  name += transport_name(mode.transport);
  name += mode.events ? "Events" : "Polling";
  if (mode.carried_inline) name += "Inline";
  name += queues[static_cast<std::size_t>(mode.queues)];
  if (mode.both_ways) name += "BothWays";
  return name;
}

}  // namespace gdr::test
