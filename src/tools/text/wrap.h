// Text for a terminal: lines broken between words, continuation lines indented.
//
//   fmt::print("{}\n", wrap(line, terminal_columns(stdout), 4));
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace gdr::text {

// The width of the terminal that `file` is; 0 where it is none: no line is broken then.
std::size_t terminal_columns(std::FILE* file);

// Columns that `text` takes on a screen: a character of several bytes takes one, a colour none.
std::size_t screen_width(std::string_view text);

// One line as lines of at most `columns`, all but the first behind `indent` spaces. Fields, which
// two spaces or more keep apart, stay whole where a line can hold them; a word too long for a line
// is left as it is. `columns` 0: as it is.
std::string wrap(std::string_view text, std::size_t columns, std::size_t indent);

// Each line of `text` so; every one ends with a line feed.
std::string wrap_lines(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace gdr::text
