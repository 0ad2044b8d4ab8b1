// Text of others (arguments, files, names of devices, what a peer or a log says) made fit to be
// shown: one line that moves no cursor, changes no colour, and reads as it is written.
//
//   fputs(printable("a\x1b[2Jb\nc").c_str(), stderr);  // "a [2Jb c"
#pragma once

#include <string>
#include <string_view>

namespace gdr {

// A space for each control character and each separator of lines; a question mark for each byte
// that is no UTF-8, and for each character that shows nothing or changes how others are shown:
// directions of writing (U+202E), widths of zero, tags, variation selectors, private use.
std::string printable(std::string_view text);

}  // namespace gdr
