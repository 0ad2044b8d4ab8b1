#include <algorithm>

#include "proof/modes/mode.h"

namespace gdr::proof {
namespace {

constexpr const Mode* kModes[] = {&kRaw,    &kUd,      &kRcSend, &kRcWrite, &kRcWriteImmediate,
                                  &kRcRead, &kRcAtomic};

}  // namespace

std::span<const Mode* const> all_modes() { return kModes; }

const Mode* find_mode(std::string_view name) {
  const auto found = std::find_if(std::begin(kModes), std::end(kModes),
                                  [&](const Mode* m) { return m->name == name; });
  return found == std::end(kModes) ? nullptr : *found;
}

std::string mode_names() {
  std::string names;
  for (const Mode* mode : kModes) {
    if (!names.empty()) names += ", ";
    names += mode->name;
  }
  return names;
}

bool set_up(Lane& lane, End& source_end, End& target_end, const Case& c, Observation& seen) {
  lane.next_case();
  Result<void> done = lane.prepare(target_end, lane.target(target_end, c));
  if (done) done = lane.fill(source_end, lane.source(source_end, c));
  if (!done) seen.refused = done.error();
  return static_cast<bool>(done);
}

void look(Lane& lane, End& target_end, const Range& data, Observation& seen, Bytes literal) {
  Result<Finding> finding = lane.look(target_end, data, std::move(literal));
  if (finding) {
    seen.finding = *finding;
  } else if (!seen.refused) {
    seen.refused = finding.error();
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

void check_immediate(Observation& seen) {
  if (!seen.received || !seen.received->ok()) return;
  if (seen.received->has_immediate && seen.received->immediate == kImmediate) return;
  seen.wrong = seen.received->has_immediate ? "another immediate arrived than was sent"
                                            : "the receiver's completion carries no immediate";
}

Limits message_limits(Lane& lane) {
  const auto most = [](const End& end) {
    return end.opened.largest_message == 0 ? kLargestSize : end.opened.largest_message;
  };
  return {1, std::min(most(lane.near()), most(lane.far()))};
}

}  // namespace gdr::proof
