#include "proof/modes/steps.h"

#include <algorithm>

namespace gdr::proof {
namespace {

constexpr std::uint32_t kImmediate = 0x67647221;

void check_immediate(Observation& seen) {
  if (!seen.received || !seen.received->ok()) return;
  if (seen.received->has_immediate && seen.received->immediate == kImmediate) return;
  seen.wrong = seen.received->has_immediate ? "the wrong immediate arrived"
                                            : "the receiver's completion has no immediate";
}

}  // namespace

bool set_up(Lane& lane, End& source_end, End& target_end, const Case& c, Observation& seen) {
  lane.next_case();
  Result<void> done = lane.prepare(target_end, lane.target(target_end, c));
  if (done) done = lane.fill(source_end, lane.source(source_end, c));
  if (!done) seen.refused = done.error();
  return static_cast<bool>(done);
}

void look(Lane& lane, End& target_end, const Range& data, Observation& seen, Bytes literal) {
  Result<Damage> damage = lane.look(target_end, data, std::move(literal));
  if (damage) {
    seen.damage = *damage;
  } else if (!seen.refused) {
    seen.refused = damage.error();
  }
}

void keep(Result<Completion> result, std::optional<Completion>& where, Observation& seen) {
  if (result) {
    where = *std::move(result);
  } else if (!seen.refused) {
    seen.refused = result.error();
  }
}

void check_length(std::uint64_t expected, Observation& seen) {
  if (!seen.received || !seen.received->ok() || seen.received->length == expected) return;
  seen.wrong = "the receiver's completion reports " + std::to_string(seen.received->length) +
               " bytes instead of " + std::to_string(expected);
}

Execute at_far(Lane& lane, Operation operation, MemoryKind kind, const Range& remote) {
  const RegisteredBuffer& buffer = lane.far().buffers[kind];
  Execute request;
  request.operation = operation;
  request.remote_address = buffer.address + remote.from;
  request.rkey = buffer.rkey;
  return request;
}

bool post_receive(Lane& lane, const Range& range, Observation& seen) {
  seen.has_receive = true;
  auto posted = lane.far().client->call(PostReceive{lane.far().queue, range});
  if (!posted) seen.refused = posted.error();
  return static_cast<bool>(posted);
}

void exchange(Lane& lane, const Execute& request, Observation& seen) {
  keep(lane.execute(request), seen.sent, seen);
  keep(lane.await_receive(), seen.received, seen);
}

Observation exchange_with_immediate(Lane& lane, const Case& c, Execute request,
                                    const Range& receive) {
  Observation seen;
  if (!set_up(lane, lane.near(), lane.far(), c, seen)) return seen;
  if (!post_receive(lane, receive, seen)) return seen;
  request.range = lane.source(lane.near(), c);
  request.immediate = kImmediate;
  exchange(lane, request, seen);
  look(lane, lane.far(), lane.target(lane.far(), c), seen);
  check_length(c.size, seen);
  check_immediate(seen);
  return seen;
}

Limits message_limits(Lane& lane) {
  const auto most = [](const End& end) {
    return end.opened.largest_message == 0 ? kLargestSize : end.opened.largest_message;
  };
  return {1, std::min(most(lane.near()), most(lane.far()))};
}

}  // namespace gdr::proof
