// ReadingProgress: how much of a log has been read, said once that takes long, and then each
// second.
//
//   text::LiveLine line(stderr);
//   ReadingProgress progress(line, "gdr explain", size_of_file);
//   progress.on_read(65536);  // after two seconds: "gdr explain: read 1.2 GiB of 3.4 GiB, 20 s
//   left"
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "text/live_line.h"

namespace gdr::cli {

class ReadingProgress {
 public:
  using Seconds = std::function<double()>;  // a clock that only goes forward

  // `whole`: how many bytes there are to read; nothing: not known.
  ReadingProgress(text::LiveLine& line, std::string command, std::optional<std::uint64_t> whole,
                  Seconds now = steady_seconds);

  void on_read(std::size_t bytes);

 private:
  static double steady_seconds();
  [[nodiscard]] std::string text(double seconds) const;

  text::LiveLine& line_;
  std::string command_;
  std::optional<std::uint64_t> whole_;
  Seconds now_;
  double start_;
  double next_;  // when to say something
  std::uint64_t read_ = 0;
};

}  // namespace gdr::cli
