// RDMA read: the initiator fetches; the data lands in the initiator's own memory.
#include "proof/modes/steps.h"

namespace gdr::proof {
namespace {

Observation run(Lane& lane, const Case& c) {
  Observation seen;
  // Here the far end is the source, and the near end owns the memory that is looked at.
  if (!set_up(lane, lane.far(), lane.near(), c, seen)) return seen;
  Execute read = at_far(lane, Operation::kRead, c.direction.from, lane.source(lane.far(), c));
  read.range = lane.target(lane.near(), c);
  keep(lane.execute(read), seen.sent, seen);
  look(lane, lane.near(), read.range, seen);
  return seen;
}

}  // namespace

const Mode kRcRead{.name = "read",
                   .title = "RC read",
                   .queue = QueueKind::kRc,
                   .fetches = true,
                   .limits = message_limits,
                   .run = run};

}  // namespace gdr::proof
