#include "cli/perf_values.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <functional>

namespace gdr::cli {
namespace {

using Sizes = std::vector<std::uint64_t>;

std::string refused(const std::function<void()>& read) {
  try {
    read();
  } catch (const CLI::ValidationError& error) {
    return error.what();
  }
  return "";
}

TEST(PerfValues, ReadSizesWithUnitsAndRanges) {
  EXPECT_EQ(read_sizes("64"), Sizes{64});
  EXPECT_EQ(read_sizes("1,4K,2k,1M,1G"), (Sizes{1, 4096, 2048, 1 << 20, 1 << 30}));
  EXPECT_EQ(read_sizes("64-512"), (Sizes{64, 128, 256, 512}));
  EXPECT_EQ(read_sizes("3-13,5"), (Sizes{3, 6, 12, 5}));
  EXPECT_EQ(read_sizes("8-8"), Sizes{8});
}

TEST(PerfValues, RefuseSizesThatCannotBe) {
  for (const char* text : {"0", "", "K", "-5", "4KK", "1T", "2G", "1025M", "4.5", " 4", "4 ",
                           "99999999999999999999", "64-", "-", "64-0", "1-2-3", "64,"}) {
    EXPECT_NE(refused([&] { read_sizes(text); }), "") << "'" << text << "'";
  }
  EXPECT_EQ(refused([] { read_sizes("1M-64"); }),
            "wrong sizes '1M-64': the smaller one comes first, as in 64-1M");
}

TEST(PerfValues, ReadTimesInEveryUnit) {
  const auto read = [](const char* text) { return read_nanoseconds("--duration", text); };
  EXPECT_EQ(read("2"), 2'000'000'000u);
  EXPECT_EQ(read("0.5"), 500'000'000u);
  EXPECT_EQ(read("2s"), 2'000'000'000u);
  EXPECT_EQ(read("200ms"), 200'000'000u);
  EXPECT_EQ(read("50us"), 50'000u);
  EXPECT_EQ(read("2m"), 120'000'000'000u);
  EXPECT_EQ(read("0"), 0u);
  EXPECT_EQ(read("1440m"), 86'400'000'000'000u);
}

TEST(PerfValues, RefuseTimesThatCannotBe) {
  for (const char* text : {"", "s", "ms", "-1", "nan", "inf", "25h", "1 s", "86401", "1441m",
                           "1e300", "0x10", "1,5"}) {
    EXPECT_NE(refused([&] { read_nanoseconds("--warm-up", text); }).find("wrong --warm-up"),
              std::string::npos)
        << "'" << text << "'";
  }
}

TEST(PerfValues, ReadPlacesWithAndWithoutAnOrdinal) {
  using perf::Place;
  EXPECT_EQ(read_places("--memory", "host,gpu,gpu:3,gpu-vmm:0,staged"),
            (std::vector<Place>{{Place::Kind::kHost, 0},
                                {Place::Kind::kGpu, perf::kChosenGpu},
                                {Place::Kind::kGpu, 3},
                                {Place::Kind::kGpuVmm, 0},
                                {Place::Kind::kStaged, perf::kChosenGpu}}));
  for (const char* text : {"", "disk", "host:0", "gpu:", "gpu:-1", "gpu:1x", "gpu:99999999999",
                           "gpu:1:2", "host,,gpu"}) {
    EXPECT_NE(refused([&] { read_places("--far-memory", text); }).find("--far-memory"),
              std::string::npos)
        << "'" << text << "'";
  }
}

TEST(PerfValues, NameWhatIsAllowedWhereANameIsUnknown) {
  EXPECT_EQ(refused([] { read_operations("write,scribble"); }),
            "unknown --operation 'scribble'; allowed: write, write-imm, read, send, fetch-add, "
            "compare-swap");
  EXPECT_EQ(refused([] { read_measures("speed"); }),
            "unknown --measure 'speed'; allowed: bandwidth, latency, rate");
  EXPECT_EQ(refused([] { read_way("magic"); }),
            "unknown --registration 'magic'; allowed: dma-buf, peer-memory");
  EXPECT_EQ(refused([] { read_transport("tcp"); }),
            "unknown --transport 'tcp'; allowed: rc, uc, ud, xrc");
}

TEST(PerfValues, ReadEveryNameThatDocumentsHave) {
  for (const auto operation :
       {perf::Operation::kWrite, perf::Operation::kWriteWithImmediate, perf::Operation::kRead,
        perf::Operation::kSend, perf::Operation::kFetchAndAdd, perf::Operation::kCompareAndSwap}) {
    EXPECT_EQ(read_operations(perf::name_of(operation)).front(), operation);
  }
  for (const auto transport :
       {perf::Transport::kRc, perf::Transport::kUc, perf::Transport::kUd, perf::Transport::kXrc}) {
    EXPECT_EQ(read_transport(perf::name_of(transport)), transport);
  }
  EXPECT_EQ(read_transport("xrc"), perf::Transport::kXrc);
  for (const auto measure :
       {perf::Measure::kBandwidth, perf::Measure::kLatency, perf::Measure::kRate}) {
    EXPECT_EQ(read_measures(perf::name_of(measure)).front(), measure);
  }
}

TEST(PerfValues, ReadProcessorsAsTasksetDoes) {
  EXPECT_EQ(read_processors("--cpu", "0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(read_processors("--cpu", "5"), std::vector<int>{5});
  for (const char* text : {"", "-1", "3-1", "1024", "0-1024", "a", "1-", "0,,1"}) {
    EXPECT_NE(refused([&] { read_processors("--cpu", text); }).find("wrong --cpu"),
              std::string::npos)
        << "'" << text << "'";
  }
}

}  // namespace
}  // namespace gdr::cli
