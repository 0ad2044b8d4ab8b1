#include "fabric/output/live.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/printable.h"
#include "fabric/output/coverage.h"
#include "fabric/output/words.h"
#include "perf/output/figures.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::fabric {
namespace {

constexpr double kSecondsBetweenDrawings = 0.25;
constexpr std::size_t kUsualColumns = 80, kUsualLines = 24, kMostSuspects = 10;
// Above and below the suspects, and a line for the cursor.
constexpr std::size_t kOtherLines = 4;

std::size_t terminal_lines(std::FILE* file) {
  winsize size{};
  if (ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return kUsualLines;
  return size.ws_row;
}

// At most `columns` on a screen; "…" shows that something is left out. `text` has no colours.
std::string cut(const std::string& text, std::size_t columns) {
  if (text::screen_width(text) <= columns) return text;
  std::string kept;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    if (text::screen_width(kept + text.substr(at, end - at)) + 1 > columns) break;
    kept += text.substr(at, end - at);
    at = end;
  }
  return kept + "…";
}

std::string bar(double share, std::size_t width) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * double(width) + 1e-9);
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

bool is_serious(const std::string& word) { return word != "slow" && word != "high latency"; }

}  // namespace

double Live::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Live::on_begin(const Report& report) {
  rounds_ = report.rounds_planned;
  began_at_ = clock_();
  joined_ = lost_ = 0;
  for (const Host& host : report.hosts) {
    if (host.state != HostState::kThere) {
      ++lost_;
    } else if (!host.rails.empty()) {
      ++joined_;
    }
  }
  if (!style_.progress) {
    fmt::print(file_, "gdr fabric: {} of {}, {}, {}\n", joined_,
               text::plural(report.hosts.size(), "host"), text::plural(rail_count(report), "rail"),
               text::plural(rounds_, "round"));
    std::fflush(file_);
  }
  draw(report, true);
}

void Live::on_host(const Report& report, HostIndex host) {
  joined_ = lost_ = 0;
  for (const Host& one : report.hosts) {
    (one.state == HostState::kThere ? joined_ : lost_) +=
        one.state != HostState::kThere || !one.rails.empty();
  }
  if (!style_.progress && host < report.hosts.size() &&
      report.hosts[host].state != HostState::kThere) {
    const Host& lost = report.hosts[host];
    fmt::print(file_, "gdr fabric: {} {}{}\n", printable(lost.name), name_of(lost.state),
               lost.problem.empty() ? "" : ": " + printable(lost.problem));
    std::fflush(file_);
  }
  draw(report, false);
}

void Live::on_round_begin(const Report& report, const Round&) { draw(report, false); }

void Live::on_round(const Report& report, const Round& round, std::span<const Measurement> found,
                    std::span<const Incident>) {
  ++(round.is_retest ? retests_done_ : rounds_done_);
  rates_.clear();
  for (const Measurement& one : found) {
    ++transfers_;
    if (one.outcome == Outcome::kWrongBytes) ++wrong_;
    if (one.outcome == Outcome::kFailed) ++failed_;
    if (one.bytes_per_second > 0) rates_.push_back(one.bytes_per_second);
  }
  const auto middle = rates_.begin() + std::ptrdiff_t(rates_.size() / 2);
  std::nth_element(rates_.begin(), middle, rates_.end());
  if (!rates_.empty()) rates_ = {rates_[rates_.size() / 2]};
  if (!style_.progress && !round.is_retest) say_sometimes(report);
  draw(report, rounds_done() == rounds_planned());
}

void Live::on_judged(const Report& report, std::span<const Finding> suspects) {
  suspects_.clear();
  suspect_count_ = suspects.size();
  for (const Finding& one : suspects.first(std::min(suspects.size(), kMostSuspects))) {
    suspects_.push_back({std::string(name_of(one.fault)), printable(one.text)});
  }
  draw(report, false);
}

void Live::on_retests(const Report& report, std::uint32_t rounds) {
  is_retesting_ = true;
  retests_ = rounds;
  retests_done_ = 0;
  began_at_ = clock_();
  if (!style_.progress) {
    fmt::print(file_, "gdr fabric: {} again in {}\n", text::plural(suspect_count_, "suspect"),
               text::plural(rounds, "round"));
    std::fflush(file_);
  }
  draw(report, true);
}

void Live::on_end(const Report&) { clear(); }

void Live::clear() {
  if (shown_lines_ == 0) return;
  // Line by line: tmux keeps a copy of what is erased from the first line of the screen on.
  std::string text = fmt::format("\r\x1b[{}A", shown_lines_);
  for (std::size_t i = 0; i < shown_lines_; ++i) text += "\x1b[K\n";
  fmt::print(file_, "{}\x1b[{}A", text, shown_lines_);
  std::fflush(file_);
  shown_lines_ = 0;
}

std::size_t Live::columns() const {
  const std::size_t known = style_.columns > 0 ? style_.columns : kUsualColumns;
  const std::size_t now = text::terminal_columns(file_);
  return now > 0 ? std::min(now, known) : known;
}

double Live::seconds_left() const {
  const std::uint32_t done = rounds_done();
  if (done == 0 || done >= rounds_planned()) return 0;
  return (clock_() - began_at_) / done * (rounds_planned() - done);
}

// For a log: the first line after about a tenth, the last one at the end.
void Live::say_sometimes(const Report& report) {
  if (rounds_ == 0) return;
  const auto tenths = static_cast<std::uint32_t>(std::uint64_t{rounds_done_} * 10 / rounds_);
  if (tenths <= tenths_said_) return;
  tenths_said_ = tenths;
  std::string text = fmt::format("gdr fabric: round {} of {}", rounds_done_, rounds_);
  if (const double left = seconds_left(); left > 0) text += ", " + duration_text(left) + " left";
  text += "; " + counts_line(report);
  if (!suspects_.empty()) {
    text += fmt::format("; {}, first: {}", text::plural(suspect_count_, "suspect"),
                        suspects_.front().text);
  }
  fmt::print(file_, "{}\n", text);
  std::fflush(file_);
}

std::string Live::progress_line(const Report& report) const {
  const std::size_t wide = columns();
  const std::uint32_t done = rounds_done(), planned = std::max(rounds_planned(), 1u);
  if (rounds_planned() == 0) {
    return fmt::format("{} of {} joined", joined_, text::plural(report.hosts.size(), "host"));
  }
  const std::string words = fmt::format("{} {} of {}", is_retesting_ ? "again, round" : "round",
                                        std::min(done + 1, planned), planned);
  const double left = seconds_left();
  const std::string time = left > 0 ? ", " + duration_text(left) + " left" : "";
  const std::size_t taken = text::screen_width(words + time) + 4;
  const std::size_t room = wide > taken ? wide - taken : 0;
  return room < 10
             ? words + time
             : bar(double(done) / planned, std::min<std::size_t>(room, 40)) + " " + words + time;
}

std::string Live::counts_line(const Report& report) const {
  std::string text = fmt::format("{} of {}", joined_, text::plural(report.hosts.size(), "host"));
  if (lost_ > 0) text += fmt::format(", {} lost", lost_);
  text += fmt::format("; {} transfers", grouped(transfers_));
  if (wrong_ > 0) text += fmt::format(", {} WRONG", grouped(wrong_));
  if (failed_ > 0) text += fmt::format(", {} failed", grouped(failed_));
  if (!rates_.empty()) text += "; median " + perf::gigabytes(rates_.front());
  return text;
}

std::vector<std::string> Live::table_of(const Report& report) const {
  const std::size_t wide = columns() - 1;
  const std::size_t lines = terminal_lines(file_);
  const std::size_t room = lines > kOtherLines ? lines - kOtherLines : 0;
  std::vector<std::string> table;
  if (suspect_count_ == 0) {
    table.push_back(paint(style_, text::Colour::kDim, cut("no suspects so far", wide)));
  }
  const std::size_t shown = std::min({suspects_.size(), kMostSuspects, room});
  for (std::size_t i = 0; i < shown; ++i) {
    const Suspect& one = suspects_[i];
    const auto colour = is_serious(one.word) ? text::Colour::kRed : text::Colour::kYellow;
    const std::string word = text::pad(one.word, 16) + "  ";
    if (wide < 40) {
      table.push_back(paint(style_, colour, cut(one.text, wide)));
    } else {
      table.push_back(paint(style_, colour, word) + cut(one.text, wide - text::screen_width(word)));
    }
  }
  if (suspect_count_ > shown) {
    table.push_back(cut(fmt::format("and {} more suspects", suspect_count_ - shown), wide));
  }
  table.push_back(cut(counts_line(report), wide));
  table.push_back(cut(progress_line(report), wide));
  return table;
}

// The cursor is left below the table, so that what others write does not spoil its last line.
void Live::draw(const Report& report, bool at_once) {
  if (!style_.progress || columns() < 12) return;
  const double now = clock_();
  if (!at_once && now - drawn_at_ < kSecondsBetweenDrawings) return;
  drawn_at_ = now;
  const std::vector<std::string> table = table_of(report);
  // In one write, each line erased as it is replaced, so that nothing flickers.
  std::string text = shown_lines_ > 0 ? fmt::format("\r\x1b[{}A", shown_lines_) : "";
  for (const std::string& line : table) text += line + "\x1b[K\n";
  fmt::print(file_, "{}\x1b[J", text);
  std::fflush(file_);
  shown_lines_ = table.size();
}

}  // namespace gdr::fabric
