// TextReport: the table a person reads, row by row as rows finish, with colours where the output is
// a terminal; there, a line fits the width or is broken between words.
//
//   TextReport table(stdout, text::Style::of(stdout));
//   table.on_side(report);
//   for (...) table.on_row(row);
//   table.on_end(report);
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "perf/output/listener.h"
#include "text/style.h"

namespace gdr::perf {

class TextReport : public Listener {
 public:
  TextReport(std::FILE* file, text::Style style) : file_(file), style_(style) {}

  void on_side(const Report& report) override;
  void on_row(const Row& row) override;
  void on_end(const Report& report) override;

 private:
  // Where the terminal is too narrow, it goes on behind `indent` spaces.
  void line(const std::string& text, std::size_t indent = 0);
  void side(const char* name, const Side& side);
  void group(const Row& row);
  void figures(const Row& row);
  void below(const Row& row);
  void set_up(const Row& row);
  void gains_of(const Report& report);
  void summary(const Report& report);

  std::FILE* file_;
  text::Style style_;
  std::optional<Load> group_;  // of the row before
  std::optional<Load> set_up_told_;
};

}  // namespace gdr::perf
