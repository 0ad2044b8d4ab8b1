// Unreliable datagrams: at most one MTU, behind 40 bytes of global routing header.
#include <algorithm>

#include "proof/modes/steps.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kRoutingHeader = 40;

Limits limits(Lane& lane) {
  const std::uint8_t mtu = std::min(lane.near().opened.mtu, lane.far().opened.mtu);
  return {1, 128ull << mtu};  // as enum ibv_mtu codes it: 1 is 256
}

Observation run(Lane& lane, const Case& c) {
  Observation seen;
  if (!set_up(lane, lane.near(), lane.far(), c, seen)) return seen;
  const Range target = lane.target(lane.far(), c);
  const Range with_header{target.buffer, target.from - kRoutingHeader,
                          target.length + kRoutingHeader};
  if (!post_receive(lane, with_header, seen)) return seen;
  Execute send;
  send.operation = Operation::kSend;
  send.range = lane.source(lane.near(), c);
  send.remote_number = lane.far().queue_info.number;
  send.remote_lid = lane.far().opened.lid;
  send.remote_gid = lane.far().opened.gid;
  exchange(lane, send, seen);
  // The header's place is the NIC's to write: put back what was there, so that the guard before the
  // data reaches up to it again.
  auto restored = lane.far().client->call(
      Prepare{{target.buffer, with_header.from, kRoutingHeader}, lane.before_seed()});
  if (!restored && !seen.refused) seen.refused = restored.error();
  look(lane, lane.far(), target, seen);
  check_length(c.size + kRoutingHeader, seen);
  return seen;
}

}  // namespace

const Mode kUd{
    .name = "ud", .title = "UD send", .queue = QueueKind::kUd, .limits = limits, .run = run};

}  // namespace gdr::proof
