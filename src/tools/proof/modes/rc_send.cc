// Send: the target names the memory with a receive, and both sides see a completion.
#include "proof/modes/steps.h"

namespace gdr::proof {
namespace {

Observation run(Lane& lane, const Case& c) {
  Execute send;
  send.operation = Operation::kSendWithImmediate;
  return exchange_with_immediate(lane, c, send, lane.target(lane.far(), c));
}

}  // namespace

const Mode kRcSend{.name = "send",
                   .title = "RC send",
                   .queue = QueueKind::kRc,
                   .limits = message_limits,
                   .run = run};

}  // namespace gdr::proof
