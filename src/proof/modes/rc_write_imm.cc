// RDMA write with immediate: as a write, and the target sees a completion that carries a number.
#include "proof/modes/mode.h"

namespace gdr::proof {
namespace {

Observation run(Lane& lane, const Case& c) {
  Observation seen;
  seen.has_receive = true;
  if (!set_up(lane, lane.near(), lane.far(), c, seen)) return seen;
  const Range target = lane.target(lane.far(), c);
  // The receive that the immediate consumes needs no memory of its own.
  auto posted =
      lane.far().client->call(PostReceive{lane.far().queue, {target.buffer, target.from, 0}});
  if (!posted) {
    seen.refused = posted.error();
    return seen;
  }
  const RegisteredBuffer& remote = lane.far().buffers[c.direction.to];
  Execute write;
  write.operation = Operation::kWriteWithImmediate;
  write.range = lane.source(lane.near(), c);
  write.remote_address = remote.address + target.from;
  write.rkey = remote.rkey;
  write.immediate = kImmediate;
  keep(lane.execute(write), seen.sent, seen);
  keep(lane.await_receive(), seen.received, seen);
  look(lane, lane.far(), target, seen);
  check_length(c.size, seen);
  check_immediate(seen);
  return seen;
}

}  // namespace

const Mode kRcWriteImmediate{.name = "write-imm",
                             .title = "RC write with immediate",
                             .queue = QueueKind::kRc,
                             .limits = message_limits,
                             .run = run};

}  // namespace gdr::proof
