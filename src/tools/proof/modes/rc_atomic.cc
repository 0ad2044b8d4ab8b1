// Atomics on eight aligned bytes: compare-and-swap that hits, one that misses, fetch-and-add. The
// target's memory must change, or not, as told, and what was there before must come back.
#include <string.h>

#include "proof/modes/steps.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kSize = 8;

Bytes bytes_of(std::uint64_t value) {
  Bytes bytes(kSize);
  memcpy(bytes.data(), &value, kSize);
  return bytes;
}

std::vector<Case> cases(const Direction& direction) {
  std::vector<Case> planned;
  // Offsets across a word, a cache line, a page.
  for (std::uint64_t offset : {0, 8, 56, 64, 4088}) {
    planned.push_back({direction, kSize, offset, offset});
  }
  return planned;
}

struct Step {
  Operation operation;
  std::uint64_t compare_or_add;
  std::uint64_t swap;
  std::uint64_t before;  // what must come back
  std::uint64_t after;   // what must be there then
  const char* name;
};

// One atomic, its effect and its answer. False: something was not right, and `seen` says what.
bool carry_out(Lane& lane, const Case& c, const Step& step, Observation& seen) {
  // The direction's source is where the answer lands, in the initiator's memory.
  const Range answer = lane.source(lane.near(), c);
  const Range target = lane.target(lane.far(), c);
  Execute atomic = at_far(lane, step.operation, c.direction.to, target);
  atomic.range = answer;
  atomic.compare_or_add = step.compare_or_add;
  atomic.swap = step.swap;
  keep(lane.execute(atomic), seen.sent, seen);
  look(lane, lane.far(), target, seen, bytes_of(step.after));
  if (judge(seen) != Symptom::kNone) return false;
  look(lane, lane.near(), answer, seen, bytes_of(step.before));
  if (judge(seen) == Symptom::kNone) return true;
  seen.wrong = std::string(step.name) + " returned a wrong old value";
  return false;
}

Observation run(Lane& lane, const Case& c) {
  Observation seen;
  lane.next_case();
  const Range answer = lane.source(lane.near(), c);
  const Range target = lane.target(lane.far(), c);
  const std::uint64_t first = 0x0123456789abcdefull + lane.data_seed();
  const std::uint64_t second = 0xfedcba9876543210ull - lane.data_seed();
  const std::uint64_t sum = second + 0x100000001ull;
  Result<void> done = lane.prepare(lane.far(), target);
  if (done) done = lane.prepare(lane.near(), answer);
  if (!done) {
    seen.refused = done.error();
    return seen;
  }
  auto stored = lane.far().client->call(Store{target.buffer, target.from, bytes_of(first)});
  if (!stored) {
    seen.refused = stored.error();
    return seen;
  }
  const Step steps[] = {
      {Operation::kCompareAndSwap, first, second, first, second, "compare-and-swap"},
      {Operation::kCompareAndSwap, first, first, second, second,
       "a compare-and-swap that does not match"},
      {Operation::kFetchAndAdd, 0x100000001ull, 0, second, sum, "fetch-and-add"}};
  for (const Step& step : steps) {
    if (!carry_out(lane, c, step, seen)) break;
  }
  return seen;
}

}  // namespace

const Mode kRcAtomic{.name = "atomic",
                     .title = "RC atomics",
                     .queue = QueueKind::kRc,
                     .needs_atomics = true,
                     .cases = cases,
                     .run = run};

}  // namespace gdr::proof
