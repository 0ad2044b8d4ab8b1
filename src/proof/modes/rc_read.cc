// RDMA read: the initiator fetches; the data lands in the initiator's own memory.
#include "proof/modes/mode.h"

namespace gdr::proof {
namespace {

Observation run(Lane& lane, const Case& c) {
  Observation seen;
  // Here the far end is the source, and the near end owns the memory that is looked at.
  if (!set_up(lane, lane.far(), lane.near(), c, seen)) return seen;
  const Range source = lane.source(lane.far(), c);
  const Range target = lane.target(lane.near(), c);
  const RegisteredBuffer& remote = lane.far().buffers[c.direction.from];
  Execute read;
  read.operation = Operation::kRead;
  read.range = target;
  read.remote_address = remote.address + source.from;
  read.rkey = remote.rkey;
  keep(lane.execute(read), seen.sent, seen);
  look(lane, lane.near(), target, seen);
  return seen;
}

}  // namespace

const Mode kRcRead{.name = "read",
                   .title = "RC read",
                   .queue = QueueKind::kRc,
                   .limits = message_limits,
                   .run = run};

}  // namespace gdr::proof
