#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "perf/compare.h"
#include "reports.h"

namespace gdr::perf {
namespace {

// Bandwidth, latency and rate, one row better, one worse, one neither, one in the base only.
Comparison example() {
  Load gpu = load_of(Measure::kBandwidth, 64 << 10);
  gpu.far = {Place::Kind::kGpu, 0};
  gpu.queue_pairs = 4;
  const Load latency = load_of(Measure::kLatency, 64), rate = load_of(Measure::kRate, 8);
  const Report base = report_of({row_of(gpu, around(12.3e9)), row_of(latency, around(1234)),
                                 row_of(rate, {5e6, 5.2e6, 5.4e6}),
                                 row_of(load_of(Measure::kRate, 9), around(1e6))});
  Report other = report_of({row_of(gpu, around(13.5e9)), row_of(latency, around(1334)),
                            row_of(rate, {5e6, 5.2e6, 5.4e6})});
  other.near.ports[0].nic = other.far.ports[0].nic = "mlx5_1";
  other.command = "gdr perf --nic mlx5_1";
  Comparison comparison = compare(base, other, 1);
  comparison.base.file = "before.json";
  comparison.other.file = "after.json";
  return comparison;
}

constexpr const char* kExampleText =
    R"(base   before.json  2026-11-22T08:15:00Z  gdr perf
other  after.json  2026-11-22T08:15:00Z  gdr perf --nic mlx5_1

These differ between the runs and may explain a change:
  NIC  base: mlx5_0  other: mlx5_1

write, RC, bandwidth in GB/s: host → gpu:0, 4 queue pairs
      size      base     other    change     95 % interval        p
    64 KiB     12.30     13.50    +9.8 %   +9.4 to +10.1 %   0.0006  better

write, RC, latency in µs: host → host
      size      base     other    change     95 % interval        p
      64 B     1.234     1.334    +8.1 %    +7.8 to +8.4 %   0.0006  worse

write, RC, rate in M messages/s: host → host
      size      base     other    change     95 % interval        p
       8 B     5.200     5.200    +0.0 %    -7.4 to +8.0 %   1.0000  no difference shown
            3 and 3 repetitions are too few to show a difference

Measured in the base only, or in neither:
  write, RC, rate in M messages/s: host → host  9 B: the other report has no such row

3 measurements compared: 1 better, 1 worse, 1 without a significant difference.

Change compares medians; the interval is a bootstrap, p is from the Mann-Whitney test. By chance alone about 1 measurement in 20 shows a difference. Repetitions are slices of one run: effects that vary from run to run (memory placement, other load) show only in several runs: gdr perf compare base1.json,base2.json other1.json,other2.json
)";

TEST(CompareText, TellsFilesThenWhatIsUnlikeThenRowsWithUnits) {
  EXPECT_EQ(to_text(std::vector{example()}, 0), kExampleText);
}

TEST(CompareText, FitsTheTerminal) {
  const std::string text = to_text(std::vector{example()}, 80);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = text.find('\n', from);
    EXPECT_LE(to - from, 84u) << text.substr(from, to - from);  // bytes: "µ" and "±" have two
    from = to + 1;
  }
}

TEST(CompareText, NamesTheBaseOnceForAllOthers) {
  Comparison second = example();
  second.other.file = "later.json";
  const std::string text = to_text(std::vector{example(), second}, 0);
  ASSERT_NE(text.find("base   before.json"), std::string::npos) << text;
  EXPECT_EQ(text.find("before.json"), text.rfind("before.json"));
  EXPECT_NE(text.find("\nother  after.json"), std::string::npos);
  EXPECT_NE(text.find("\nother  later.json"), std::string::npos);
}

TEST(CompareText, SaysSoWhereNothingWasCompared) {
  const Comparison nothing = compare(report_of({}), report_of({}), 1);
  const std::string text = to_text(std::vector{nothing}, 0);
  EXPECT_NE(text.find("nothing was compared"), std::string::npos);
  EXPECT_EQ(text.find("Mann-Whitney"), std::string::npos);
}

TEST(CompareText, ShowsNoCharacterThatATerminalObeys) {
  Report base = report_of({row_of(Load{}, around(1))}), other = report_of({});
  other.command = "gdr \x1b]0;title\x07 perf\r\n";
  other.near.host =
      "\x1b[2J\xc2\x9b"
      "2J";
  Row failed;
  failed.problem = "\x1b[31mred";
  other.rows.push_back(failed);
  Comparison comparison = compare(base, other, 1);
  comparison.other.file = "\x1b.json";
  const std::string text = to_text(std::vector{comparison}, 0);
  EXPECT_NE(text.find(" [31mred"), std::string::npos);
  EXPECT_NE(text.find(" ]0;title  perf"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
}

TEST(CompareJson, HoldsTheSameAsNumbers) {
  const auto json = nlohmann::json::parse(to_json(std::vector{example(), example()}));
  EXPECT_EQ(json["base"]["file"], "before.json");
  ASSERT_EQ(json["others"].size(), 2u);
  const auto& other = json["others"][0];
  EXPECT_EQ(other["command"], "gdr perf --nic mlx5_1");
  ASSERT_EQ(other["unlike"].size(), 1u);
  EXPECT_EQ(other["unlike"][0]["what"], "NIC");
  EXPECT_EQ(other["unlike"][0]["base"], "mlx5_0");
  EXPECT_EQ(other["unlike"][0]["other"], "mlx5_1");

  ASSERT_EQ(other["rows"].size(), 3u);
  const auto& row = other["rows"][0];
  EXPECT_EQ(row["load"]["far"], "gpu:0");
  EXPECT_EQ(row["load"]["queue_pairs"], 4);
  EXPECT_EQ(row["unit"], "bytes/s");
  EXPECT_EQ(row["base"]["median"], 12.3e9);
  EXPECT_EQ(row["base"]["repetitions"].size(), 7u);
  EXPECT_NEAR(row["difference"].get<double>(), 13.5 / 12.3 - 1, 1e-9);
  EXPECT_LT(row["interval"][0], row["difference"]);
  EXPECT_GT(row["interval"][1], row["difference"]);
  EXPECT_LT(row["p"], 0.001);
  EXPECT_EQ(row["verdict"], "better");
  EXPECT_EQ(other["rows"][1]["unit"], "ns");
  EXPECT_EQ(other["rows"][1]["verdict"], "worse");
  EXPECT_EQ(other["rows"][2]["unit"], "messages/s");
  EXPECT_EQ(other["rows"][2]["verdict"], "no difference shown");
  EXPECT_EQ(other["rows"][2]["remarks"].size(), 1u);
  ASSERT_EQ(other["only_base"].size(), 1u);
  EXPECT_EQ(other["only_base"][0]["load"]["size_bytes"], 9);
  EXPECT_TRUE(other["only_other"].empty());
}

TEST(CompareJson, IsOneValidDocumentForTextThatIsNot) {
  Report other = report_of({});
  other.command = "gdr \xff\xfe";
  other.near.host = "\xc3(";
  EXPECT_TRUE(nlohmann::json::accept(to_json(std::vector{compare(report_of({}), other, 1)})));
  EXPECT_TRUE(nlohmann::json::accept(to_json({})));
}

}  // namespace
}  // namespace gdr::perf
