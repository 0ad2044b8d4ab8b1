// LiveLine: one line on a terminal that says how far something is, written anew over itself and
// gone before anything else is printed; nothing where the file is no terminal.
//
//   LiveLine line(stderr);
//   line.show("read 12 MiB of 40 MiB");
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "text/style.h"

namespace gdr::text {

class LiveLine {
 public:
  explicit LiveLine(std::FILE* file) : LiveLine(file, Style::of(file)) {}
  LiveLine(std::FILE* file, const Style& style) : file_(file), style_(style) {}
  ~LiveLine() { clear(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  // The width of the terminal.
  std::size_t columns() const;
  // Cut where it would wrap, since a line that wraps could not be erased.
  void show(std::string_view words);
  // Before anything else writes to the terminal.
  void clear();

 private:
  void write(const std::string& text);

  std::FILE* file_;
  Style style_;
  bool shown_ = false;
};

}  // namespace gdr::text
