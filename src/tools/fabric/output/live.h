// Live: what a run finds, while it goes on. On a terminal a table of a few lines, the suspects
// first, which is drawn anew a few times a second and gone before the final report; elsewhere a
// line for about every tenth of the rounds.
//
//   Live live(stderr, text::Style::of(stderr));
//   live.on_begin(report);   // and so on
//
// A line is never wider and the table never higher than the terminal: else it could not be erased.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "fabric/output/listener.h"
#include "text/style.h"

namespace gdr::fabric {

class Live : public Listener {
 public:
  using Clock = std::function<double()>;  // seconds since any moment
  static double steady_seconds();

  Live(std::FILE* file, text::Style style, Clock clock = steady_seconds)
      : file_(file), style_(style), clock_(std::move(clock)) {}
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  ~Live() override { clear(); }

  void on_begin(const Report& report) override;
  void on_host(const Report& report, HostIndex host) override;
  void on_round_begin(const Report& report, const Round& round) override;
  void on_round(const Report& report, const Round& round, std::span<const Measurement> found,
                std::span<const Incident> incidents) override;
  void on_judged(const Report& report, std::span<const Finding> suspects) override;
  void on_retests(const Report& report, std::uint32_t rounds) override;
  void on_waiting(const Report& report) override { draw(report, false); }
  void on_end(const Report& report) override;

  // Before anything else writes to the terminal.
  void clear();

 private:
  struct Suspect {
    std::string word, text;  // "slow", "n07: 15 % slower ..."
  };

  void draw(const Report& report, bool at_once);
  void say_sometimes(const Report& report);
  std::vector<std::string> table_of(const Report& report) const;
  std::string progress_line(const Report& report) const;
  std::string counts_line(const Report& report) const;
  std::size_t columns() const;  // now: a window may have become smaller
  double seconds_left() const;
  std::uint32_t rounds_done() const { return is_retesting_ ? retests_done_ : rounds_done_; }
  std::uint32_t rounds_planned() const { return is_retesting_ ? retests_ : rounds_; }

  std::FILE* file_;
  text::Style style_;
  Clock clock_;
  std::size_t shown_lines_ = 0;
  double drawn_at_ = -1e9;
  double began_at_ = 0;  // the first round, or the first of the retests
  std::uint32_t rounds_ = 0, rounds_done_ = 0, retests_ = 0, retests_done_ = 0;
  std::uint32_t tenths_said_ = 0;
  bool is_retesting_ = false;
  std::size_t lost_ = 0, joined_ = 0;
  std::uint64_t transfers_ = 0, wrong_ = 0, failed_ = 0;
  std::vector<float> rates_;  // of the last round
  std::vector<Suspect> suspects_;
  std::size_t suspect_count_ = 0;
};

}  // namespace gdr::fabric
