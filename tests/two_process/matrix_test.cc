// Every operation in every mode that perftest knows, between two processes, with every byte
// compared by the owner of the memory: perftest looks at none. The same modes without the bytes:
// tests/programs/perftest.
#include <gtest/gtest.h>

#include <array>

#include "matrix_player.h"
#include "xrc_side.h"

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

std::string name_of(const testing::TestParamInfo<Mode>& info) {
  const Mode& mode = info.param;
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

class Matrix : public testing::TestWithParam<Mode> {};

TEST_P(Matrix, MovesEveryByteToItsPlaceAndNoOther) {
  const Mode mode = GetParam();
  const SharedFile domain;
  Child child([&](Wire& wire) { play(mode, 1, wire, domain.get()); });
  play(mode, 0, child.wire(), domain.get());
  child.finish();
}

INSTANTIATE_TEST_SUITE_P(EveryMode, Matrix, testing::ValuesIn(every_mode()), name_of);

}  // namespace
}  // namespace gdr::test
