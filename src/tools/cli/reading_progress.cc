#include "cli/reading_progress.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "text/format.h"

namespace gdr::cli {
namespace {

constexpr double kQuiet = 2;  // seconds
constexpr double kBetween = 1;

}  // namespace

ReadingProgress::ReadingProgress(text::LiveLine& line, std::string command,
                                 std::optional<std::uint64_t> whole, Seconds now)
    : line_(line),
      command_(std::move(command)),
      whole_(whole),
      now_(std::move(now)),
      start_(now_()),
      next_(start_ + kQuiet) {}

double ReadingProgress::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void ReadingProgress::on_read(std::size_t bytes) {
  read_ += bytes;
  const double now = now_();
  if (now < next_) return;
  next_ = now + kBetween;
  line_.show(text(now - start_));
}

std::string ReadingProgress::text(double seconds) const {
  const std::string read = fmt::format("{}: read {}", command_, text::size_text(read_));
  // A file may grow meanwhile.
  if (!whole_ || read_ > *whole_) return read;
  const double left = seconds * static_cast<double>(*whole_ - read_) / static_cast<double>(read_);
  return fmt::format("{} of {}, {:.0f} s left", read, text::size_text(*whole_), std::ceil(left));
}

}  // namespace gdr::cli
