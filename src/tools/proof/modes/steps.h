// Steps that modes share, each stopping at the first thing that cannot be done.
//
//   Observation seen;
//   if (!set_up(lane, lane.near(), lane.far(), c, seen)) return seen;
//   keep(lane.execute(at_far(lane, Operation::kWrite, c.direction.to, target)), seen.sent, seen);
//   look(lane, lane.far(), target, seen);
#pragma once

#include "proof/modes/mode.h"

namespace gdr::proof {

// The target's memory is prepared, the source filled.
bool set_up(Lane& lane, End& source_end, End& target_end, const Case& c, Observation& seen);
// The owner of the target looks; always, whatever the completions said.
void look(Lane& lane, End& target_end, const Range& data, Observation& seen, Bytes literal = {});
void keep(Result<Completion> result, std::optional<Completion>& where, Observation& seen);
void check_length(std::uint64_t expected, Observation& seen);

// An operation on `remote`, memory of this kind at the far end, with no local range yet.
Execute at_far(Lane& lane, Operation operation, MemoryKind kind, const Range& remote);

// What the far end posts for a message that consumes a receive.
bool post_receive(Lane& lane, const Range& range, Observation& seen);
// The near end executes; the completions of both ends.
void exchange(Lane& lane, const Execute& request, Observation& seen);
// All of a transfer of `c` from near to far that consumes `receive` and carries an immediate.
Observation exchange_with_immediate(Lane& lane, const Case& c, Execute request,
                                    const Range& receive);

Limits message_limits(Lane& lane);

}  // namespace gdr::proof
