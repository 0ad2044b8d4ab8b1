// TextReport: the report for a person, a line at a time, with a progress bar and colours where the
// output is a terminal; there, a line fits 80 columns or is broken between words. The brief one has
// the devices that take part, a line for each mode, and every line of a mode that is not right.
//
//   TextReport text(stdout, text::Style::of(stdout), TextReport::Detail::kBrief);
//   Result<Report> report = prove(options, text);
//   text.finish(*report);
#pragma once

#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "proof/listener.h"
#include "proof/mode_summary.h"
#include "text/live_line.h"
#include "text/style.h"

namespace gdr::proof {

class TextReport : public Listener {
 public:
  enum class Detail { kBrief, kFull };

  TextReport(std::FILE* file, text::Style style, Detail detail)
      : file_(file), style_(style), bar_(file, style), brief_(detail == Detail::kBrief) {}

  void on_facts(const RunFacts& facts) override;
  void on_inventory(const InventoryReport& inventory) override;
  void on_other_side(const OtherSide& other) override;
  void on_pair(const Participants& pair) override;
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
  void device(const std::string& name, const std::string& text, bool stand_in = false);
  void show_inventory(const InventoryReport& inventory);
  void show_devices(const InventoryReport& inventory);
  // Of a pair's end, once.
  void show_gpu(const InventoryReport& inventory, const std::string& address);
  void show_port(const InventoryReport& inventory, const std::string& name);
  void show_grade(const std::string& gpu, const std::string& nic, const std::string& grade);
  void show_registration(Status status, Registration registration, const std::string& memory,
                         const std::string& text);
  void show_check(const Check& check);
  void show_mode(const ModeSummary& mode);
  // The brief report holds these back until it can say them in one line.
  void flush_registrations();
  void flush_mode();
  void show_verdict(const Verdict& verdict, double seconds);
  // At either end.
  bool is_soft_nic() const { return inventory_.soft_nic || (other_ && other_->inventory.soft_nic); }

  std::FILE* file_;
  text::Style style_;
  text::LiveLine bar_;
  bool brief_;
  std::string section_;
  InventoryReport inventory_;
  std::optional<OtherSide> other_;
  bool inventory_is_owed_ = false;       // none of it has been shown
  std::set<std::string> shown_devices_;  // by name, in the brief report
  std::vector<RegistrationResult> registrations_;
  ModeSummary mode_;
  Nanoseconds bar_time_ = 0;
};

// A whole report, without colours and with no line broken.
std::string text_of(const Report& report, TextReport::Detail detail);

}  // namespace gdr::proof
