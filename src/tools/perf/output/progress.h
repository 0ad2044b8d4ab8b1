// Progress: one line on a terminal's standard error while a row is measured, gone before anything
// else is printed; nothing where it is no terminal.
//
//   Progress progress(stderr, text::Style::of(stderr));
//   progress.on_running({2, 24, load, 31.5});  // "row 3 of 24: write 4 KiB, host → gpu:0, 32 s
//   left"
#pragma once

#include <cstdio>
#include <string>

#include "perf/output/listener.h"
#include "text/live_line.h"
#include "text/style.h"

namespace gdr::perf {

class Progress : public Listener {
 public:
  Progress(std::FILE* file, text::Style style) : style_(style), line_(file, style) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void on_side(const Report&) override { clear(); }
  void on_row(const Row&) override { clear(); }
  void on_end(const Report&) override { clear(); }
  void on_running(const Running& running) override;

  // Before anything else writes to the terminal.
  void clear();

 private:
  text::Style style_;
  text::LiveLine line_;
  std::string shown_;
};

}  // namespace gdr::perf
