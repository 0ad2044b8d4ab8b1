#include "cli/reading_progress.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <vector>

namespace gdr::cli {
namespace {

constexpr text::Style kTerminal{false, true, 80};
constexpr std::size_t kMiB = 1 << 20;

// What is written while a MiB is read at each of `times`, in seconds.
std::string written(text::Style style, std::optional<std::uint64_t> whole,
                    const std::vector<double>& times) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&buffer, &size);
  {
    double now = 100;
    text::LiveLine line(file, style);
    ReadingProgress progress(line, "gdr explain", whole, [&] { return now; });
    for (const double time : times) {
      now = 100 + time;
      progress.on_read(kMiB);
    }
  }
  std::fclose(file);
  std::string text(buffer, size);
  free(buffer);
  return text;
}

TEST(ReadingProgress, SaysNothingWithinTwoSeconds) {
  EXPECT_EQ(written(kTerminal, 8 * kMiB, {0, 0.5, 1.9}), "");
}

TEST(ReadingProgress, SaysThenHowFarItIsAndIsErasedAfterwards) {
  EXPECT_EQ(written(kTerminal, 8 * kMiB, {1, 2}),
            "\r\x1b[Kgdr explain: read 2 MiB of 8 MiB, 6 s left\r\x1b[K");
}

TEST(ReadingProgress, SaysItAgainAfterASecond) {
  EXPECT_EQ(written(kTerminal, 8 * kMiB, {2, 2.5, 2.9, 3}),
            "\r\x1b[Kgdr explain: read 1 MiB of 8 MiB, 14 s left"
            "\r\x1b[Kgdr explain: read 4 MiB of 8 MiB, 3 s left\r\x1b[K");
}

TEST(ReadingProgress, DoesNotGuessTheEndOfAPipeOrOfAFileThatGrew) {
  const std::string said = "\r\x1b[Kgdr explain: read 2 MiB\r\x1b[K";
  EXPECT_EQ(written(kTerminal, std::nullopt, {1, 2}), said);
  EXPECT_EQ(written(kTerminal, kMiB, {1, 2}), said);
}

TEST(ReadingProgress, SaysNothingWhereNobodyLooks) {
  EXPECT_EQ(written({}, 8 * kMiB, {1, 2, 3, 4}), "");
}

TEST(ReadingProgress, GoesOnWhereItsTerminalIsGone) {
  std::FILE* gone = std::fopen("/dev/full", "w");
  ASSERT_NE(gone, nullptr);
  std::setvbuf(gone, nullptr, _IONBF, 0);  // as standard error
  {
    text::LiveLine line(gone, kTerminal);
    line.show("read 2 MiB");
    EXPECT_NE(std::ferror(gone), 0);
  }
  std::fclose(gone);
}

TEST(ReadingProgress, FitsIntoANarrowTerminal) {
  EXPECT_EQ(written({false, true, 18}, 8 * kMiB, {2}), "\r\x1b[Kgdr explain: read\r\x1b[K");
}

}  // namespace
}  // namespace gdr::cli
