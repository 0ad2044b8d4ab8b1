// Whether output has colours, for the whole process: --color.
//
//   choose_colours(Colours::kNever);
//   Style::of(stdout).colours  // false
#pragma once

namespace gdr::text {

// kAuto: for a terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb".
enum class Colours { kAuto, kAlways, kNever };

// Once, before anything is shown.
void choose_colours(Colours colours);

}  // namespace gdr::text
