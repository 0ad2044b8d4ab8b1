// Send: the target names the memory with a receive, and both sides see a completion.
#include "proof/modes/mode.h"

namespace gdr::proof {
namespace {

Observation run(Lane& lane, const Case& c) {
  Observation seen;
  seen.has_receive = true;
  if (!set_up(lane, lane.near(), lane.far(), c, seen)) return seen;
  const Range target = lane.target(lane.far(), c);
  auto posted = lane.far().client->call(PostReceive{lane.far().queue, target});
  if (!posted) {
    seen.refused = posted.error();
    return seen;
  }
  Execute send;
  send.operation = Operation::kSendWithImmediate;
  send.range = lane.source(lane.near(), c);
  send.immediate = kImmediate;
  keep(lane.execute(send), seen.sent, seen);
  keep(lane.await_receive(), seen.received, seen);
  look(lane, lane.far(), target, seen);
  check_length(c.size, seen);
  check_immediate(seen);
  return seen;
}

}  // namespace

const Mode kRcSend{.name = "send",
                   .title = "RC send",
                   .queue = QueueKind::kRc,
                   .limits = message_limits,
                   .run = run};

}  // namespace gdr::proof
