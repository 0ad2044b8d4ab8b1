// RDMA write: the initiator places bytes; the target's side takes no part and sees no completion.
#include "proof/modes/steps.h"

namespace gdr::proof {
namespace {

Observation run(Lane& lane, const Case& c) {
  Observation seen;
  if (!set_up(lane, lane.near(), lane.far(), c, seen)) return seen;
  const Range target = lane.target(lane.far(), c);
  Execute write = at_far(lane, Operation::kWrite, c.direction.to, target);
  write.range = lane.source(lane.near(), c);
  keep(lane.execute(write), seen.sent, seen);
  look(lane, lane.far(), target, seen);
  return seen;
}

}  // namespace

const Mode kRcWrite{.name = "write",
                    .title = "RC write",
                    .queue = QueueKind::kRc,
                    .limits = message_limits,
                    .run = run};

}  // namespace gdr::proof
