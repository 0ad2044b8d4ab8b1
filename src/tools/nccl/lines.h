// A log's bytes, in whatever pieces they arrive, as lines that are safe to print: colour codes and
// other control bytes are gone, and a line is never longer than kLongestLine, whatever the file
// holds. Memory is bounded by one line.
//
//   Lines lines([](const Line& line) { fmt::print("{}: {}\n", line.number, line.text); });
//   lines.feed(bytes);
//   lines.finish();
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gdr::nccl {

// NCCL formats a message in 1024 bytes; launchers put something in front, and since 2.30 a message
// may be longer.
constexpr std::size_t kLongestLine = 16384;

struct Line {
  std::uint64_t number = 0;  // from 1
  std::string_view text;     // valid during the call
  bool whole = true;         // false: its end is missing, since the file stops or it is too long
};

class Lines {
 public:
  explicit Lines(std::function<void(const Line&)> sink) : sink_(std::move(sink)) {}

  void feed(std::string_view bytes);
  // What follows the last newline is a line that is not whole.
  void finish();
  std::uint64_t count() const { return number_; }

 private:
  void take(std::string_view line, bool ends);
  void take_piece(std::string_view piece, bool ends);
  void end(bool whole);

  std::function<void(const Line&)> sink_;
  std::string line_;
  std::uint64_t number_ = 0;  // of the last line that was begun
  bool begun_ = false;
  bool too_long_ = false;
};

}  // namespace gdr::nccl
