#include "perf/output/progress.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <functional>

namespace gdr::perf {
namespace {

std::string written(text::Style style, const std::function<void(Progress&)>& use) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&buffer, &size);
  {
    Progress progress(file, style);
    use(progress);
  }
  std::fclose(file);
  std::string text(buffer, size);
  free(buffer);
  return text;
}

Running running(double seconds_left) {
  Running now;
  now.row = 2;
  now.rows = 24;
  now.load.size = 4096;
  now.load.far = {Place::Kind::kGpu, 0};
  now.seconds_left = seconds_left;
  return now;
}

constexpr text::Style kTerminal{false, true, 80};

TEST(PerfProgress, SaysWhichRowOfHowManyAndHowLongItTakesAndIsErasedAfterwards) {
  EXPECT_EQ(written(kTerminal,
                    [](Progress& progress) {
                      progress.on_running(running(31.2));
                      progress.on_row({});
                      progress.on_row({});
                    }),
            "\r\x1b[Krow 3 of 24: write 4 KiB host → gpu:0, 32 s left\r\x1b[K");
}

TEST(PerfProgress, IsErasedWhenItGoesAway) {
  EXPECT_EQ(written(kTerminal, [](Progress& progress) { progress.on_running(running(600)); }),
            "\r\x1b[Krow 3 of 24: write 4 KiB host → gpu:0, 10 min left\r\x1b[K");
}

TEST(PerfProgress, IsDrawnAgainOnlyWhenItSaysSomethingElse) {
  EXPECT_EQ(written(kTerminal,
                    [](Progress& progress) {
                      progress.on_running(running(0));
                      progress.on_running(running(0));
                    }),
            "\r\x1b[Krow 3 of 24: write 4 KiB host → gpu:0\r\x1b[K");
}

TEST(PerfProgress, SaysLessWhereTheTerminalIsNarrow) {
  EXPECT_EQ(written({false, true, 40}, [](Progress& p) { p.on_running(running(31)); }),
            "\r\x1b[Krow 3 of 24, 31 s left\r\x1b[K");
  EXPECT_EQ(written({false, true, 10}, [](Progress& p) { p.on_running(running(31)); }), "");
}

TEST(PerfProgress, WritesNothingWhereThereIsNoTerminal) {
  EXPECT_EQ(written({},
                    [](Progress& progress) {
                      progress.on_running(running(31));
                      progress.on_end({});
                    }),
            "");
}

}  // namespace
}  // namespace gdr::perf
