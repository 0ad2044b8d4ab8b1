#include "fabric/output/live.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <sstream>

#include "sample_fleet.h"
#include "text/wrap.h"

namespace gdr::fabric {
namespace {

constexpr text::Style kScreen{false, true, 80};

// What was written, in the pieces that were flushed, by a run whose clock is `now`.
class Play {
 public:
  explicit Play(text::Style style, SampleFleet fleet = {})
      : report(sample_fleet(fleet)),
        file_(open_memstream(&buffer_, &size_)),
        live(file_, style, [this] { return now; }) {}
  ~Play() {
    live.clear();
    std::fclose(file_);
    free(buffer_);
  }

  // Rounds from `first` up to `end`, each a tenth of a second long.
  void rounds(std::uint32_t first, std::uint32_t end, double seconds = 0.1) {
    for (std::uint32_t number = first; number < end; ++number) {
      std::vector<Measurement> found;
      for (const Measurement& one : report.measurements) {
        if (one.round == number && !one.is_retest) found.push_back(one);
      }
      Round round;
      round.number = number;
      live.on_round_begin(report, round);
      now += seconds;
      live.on_round(report, round, found, {});
    }
  }
  std::string taken() {
    std::fflush(file_);
    std::string text(buffer_ + read_, size_ - read_);
    read_ = size_;
    return text;
  }

  Report report;
  double now = 100;

 private:
  char* buffer_ = nullptr;
  std::size_t size_ = 0, read_ = 0;
  std::FILE* file_;

 public:
  Live live;
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string last_drawing(const std::string& text) {
  const std::size_t at = text.rfind("A");
  return text.substr(at == text.npos ? 0 : at + 1);
}

TEST(FabricLive, ShowsSuspectsAboveTheProgressAndTheTimeLeft) {
  Play play(kScreen);
  play.live.on_begin(play.report);
  play.live.on_judged(play.report, std::span(play.report.findings).first(3));
  play.rounds(0, 5, 1);
  EXPECT_EQ(last_drawing(play.taken()),
            "wrong bytes       n2 to n5: wrong bytes on mlx5_0\x1b[K\n"
            "died              n11 died in round 3\x1b[K\n"
            "slow              n3: mlx5_1 is 40 % slower than the fleet\x1b[K\n"
            "15 of 16 hosts, 1 lost; 156 transfers, 1 WRONG, 1 failed; median 23.9 GB/s\x1b[K\n"
            "[#############...........................] round 6 of 15, 10 s left\x1b[K\n"
            "\x1b[J");
}

TEST(FabricLive, IsDrawnAtMostFourTimesASecond) {
  Play play(kScreen);
  play.live.on_begin(play.report);
  play.taken();
  play.rounds(0, 14, 0.01);
  EXPECT_EQ(play.taken(), "");
  for (int i = 0; i < 100; ++i) {
    play.now += 0.01;
    play.live.on_waiting(play.report);
  }
  const std::size_t drawn = count_of(play.taken(), "round 15 of 15");
  EXPECT_GE(drawn, 3u);
  EXPECT_LE(drawn, 5u);
}

TEST(FabricLive, LeavesNothingBehindAtTheEnd) {
  Play play(kScreen);
  play.live.on_begin(play.report);
  play.rounds(0, 3, 1);
  EXPECT_EQ(count_of(last_drawing(play.taken()), "\n"), 3u);
  play.live.on_end(play.report);
  const std::string end = play.taken();
  // Each line is erased, and the cursor is where it was before the first.
  EXPECT_EQ(end, "\r\x1b[3A\x1b[K\n\x1b[K\n\x1b[K\n\x1b[3A");
  play.live.on_end(play.report);
  EXPECT_EQ(play.taken(), "") << "once is enough";
}

TEST(FabricLive, CutsLinesThatTheTerminalCouldNotEraseAndShowsTenSuspects) {
  for (const std::size_t columns : {20u, 60u, 80u}) {
    Play play({false, true, columns});
    std::vector<Finding> suspects(30, play.report.findings[2]);
    for (Finding& one : suspects) one.text = std::string(200, 'x') + "µµ";
    play.live.on_begin(play.report);
    play.rounds(0, 2, 1);
    play.live.on_judged(play.report, suspects);
    play.now += 1;
    play.live.on_waiting(play.report);
    const std::string drawing = last_drawing(play.taken());
    std::istringstream lines(drawing);
    std::size_t shown = 0;
    for (std::string line; std::getline(lines, line); ++shown) {
      if (line.ends_with("\x1b[K")) line.resize(line.size() - 3);
      EXPECT_LT(text::screen_width(line), columns) << line;
    }
    EXPECT_LE(shown, 14u);
    EXPECT_NE(drawing.find("20 more su"), drawing.npos) << drawing;
  }
}

TEST(FabricLive, CountsRetestsOnTheirOwn) {
  Play play(kScreen);
  play.live.on_begin(play.report);
  play.rounds(0, 15);
  play.live.on_retests(play.report, 4);
  Round again;
  again.is_retest = true;
  play.now += 1;
  play.live.on_round(play.report, again, {}, {});
  const std::string drawing = last_drawing(play.taken());
  EXPECT_NE(drawing.find("again, round 2 of 4, 3.0 s left"), drawing.npos) << drawing;
}

TEST(FabricLive, WritesALineForATenthOfTheRoundsWhereThereIsNoTerminal) {
  SampleFleet fleet;
  fleet.hosts = 101;
  Play play({}, fleet);
  play.live.on_begin(play.report);
  play.rounds(0, 100);
  const std::string text = play.taken();
  EXPECT_EQ(text.find("gdr fabric: 100 of 101 hosts, 2 rails, 100 rounds\n"), 0u) << text;
  EXPECT_EQ(count_of(text, "\n"), 11u) << text;
  EXPECT_NE(text.find("\ngdr fabric: round 10 of 100, 9.0 s left; "), text.npos) << text;
  EXPECT_NE(text.find("\ngdr fabric: round 100 of 100; "), text.npos) << text;
  EXPECT_EQ(text.find('\x1b'), text.npos);
}

TEST(FabricLive, TellsALogOfEachHostThatIsLost) {
  Play play({});
  play.live.on_host(play.report, 11);
  play.live.on_host(play.report, 3);
  EXPECT_EQ(play.taken(), "gdr fabric: n11 died: the connection ended\n");
}

TEST(FabricLive, MovesNoCursorForAHostilePlaceName) {
  Play play({});
  spoil(play.report);
  play.live.on_begin(play.report);
  play.live.on_host(play.report, 11);
  play.live.on_judged(play.report, play.report.findings);
  play.rounds(0, 15);
  const std::string text = play.taken();
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_EQ(count_of(text, "\n"), count_of(text, "\ngdr fabric: ") + 1) << "no line of its own";
}

}  // namespace
}  // namespace gdr::fabric
