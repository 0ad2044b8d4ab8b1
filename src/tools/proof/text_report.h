// TextReport: the report for a person, a line at a time, with a progress bar and colours where the
// output is a terminal; there, a line fits 80 columns or is broken between words.
//
//   TextReport text(stdout, text::Style::of(stdout));
//   Result<Report> report = prove(options, text);
//   text.finish(*report);
#pragma once

#include <cstdio>
#include <string>

#include "base/clock.h"
#include "proof/listener.h"
#include "text/style.h"

namespace gdr::proof {

class TextReport : public Listener {
 public:
  TextReport(std::FILE* file, text::Style style) : file_(file), style_(style) {}

  void on_inventory(const InventoryReport& inventory) override;
  void on_registration(const RegistrationResult& result) override;
  void on_check(const Check& check) override;
  void on_measurement(const Measurement& measurement) override;
  void on_progress(const std::string& what, std::uint64_t done, std::uint64_t total) override;

  void finish(const Report& report);

 private:
  std::string paint(text::Colour colour, const std::string& text) const;
  std::string mark(Status status) const;
  void section(const std::string& title);
  // Where the terminal is too narrow, it goes on behind `indent` spaces.
  void line(const std::string& text, std::size_t indent = 0);
  void clear_progress();

  std::FILE* file_;
  text::Style style_;
  std::string section_;
  bool soft_nic_ = false;
  bool bar_shown_ = false;
  Nanoseconds bar_time_ = 0;
};

}  // namespace gdr::proof
