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

}  // namespace gdr::proof
