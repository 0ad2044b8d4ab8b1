// RDMA write with immediate: as a write, and the target sees a completion that carries a number.
#include "proof/modes/steps.h"

namespace gdr::proof {
namespace {

Observation run(Lane& lane, const Case& c) {
  const Range target = lane.target(lane.far(), c);
  // The receive that the immediate consumes needs no memory of its own.
  return exchange_with_immediate(
      lane, c, at_far(lane, Operation::kWriteWithImmediate, c.direction.to, target),
      {target.buffer, target.from, 0});
}

}  // namespace

const Mode kRcWriteImmediate{.name = "write-imm",
                             .title = "RC write with imm",
                             .queue = QueueKind::kRc,
                             .limits = message_limits,
                             .run = run};

}  // namespace gdr::proof
