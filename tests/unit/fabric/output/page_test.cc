#include "fabric/output/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "fabric/output/page_data.h"
#include "sample_fleet.h"

namespace gdr::fabric {
namespace {

using nlohmann::json;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The lower half of each number first, as the page's script reads them.
std::vector<std::uint16_t> unpacked(const std::string& base64) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 3 < base64.size(); i += 4) {
    std::uint32_t bits = 0, known = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t value = letters.find(base64[i + j]);
      bits = bits << 6 | static_cast<std::uint32_t>(value == letters.npos ? 0 : value);
      known += value != letters.npos;
    }
    for (std::size_t j = 0; j + 1 < known; ++j) {
      bytes.push_back(static_cast<std::uint8_t>(bits >> (16 - 8 * j)));
    }
  }
  std::vector<std::uint16_t> numbers;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    numbers.push_back(static_cast<std::uint16_t>(bytes[i] | bytes[i + 1] << 8));
  }
  return numbers;
}

double amount(const json& scale, std::uint16_t code) {
  const double least = scale[0], most = scale[1];
  return code == 0 ? 0 : least * std::pow(most / least, (code - 1) / 65534.0);
}

TEST(FabricPage, MayNotLoadAnythingFromElsewhere) {
  const std::string page = to_html(sample_fleet());
  EXPECT_NE(page.find("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
                      "'unsafe-inline'; img-src data:\""),
            page.npos);
  EXPECT_EQ(page.find(" src="), page.npos);
  EXPECT_EQ(count(page, " href="), 1u) << "the icon, which is empty";
}

TEST(FabricPage, EscapesEveryTextThatComesFromAHost) {
  Report report = sample_fleet();
  const std::size_t scripts = count(to_html(report), "<script");
  spoil(report);
  const std::string page = to_html(report);
  EXPECT_EQ(count(page, "<script"), scripts);
  EXPECT_EQ(count(page, "</script>"), scripts);
  EXPECT_EQ(page.find("<b>"), page.npos);
  EXPECT_EQ(page.find('\x1b'), page.npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;"), page.npos);
}

TEST(FabricPage, HasTheFindingsAsATableWithoutJavaScript) {
  const std::string page = to_html(sample_fleet());
  const std::string before = page.substr(0, page.find("<script"));
  EXPECT_EQ(count(before, "<tr data-hosts="), 4u);
  EXPECT_NE(before.find("<tr data-hosts=\"2 5\" data-rail=\"0\">"), before.npos);
  EXPECT_NE(before.find("gdr doctor: link of mlx5_1 runs at 100 Gb/s"), before.npos);
  EXPECT_NE(before.find("<code>ssh n3 gdr doctor --all</code>"), before.npos);
  EXPECT_LT(before.find("id=\"findings\""), before.find("id=\"heatmap\"")) << "suspects first";
}

TEST(FabricPage, LabelsARunOfStandIns) {
  SampleFleet soft;
  soft.is_software = soft.is_healthy = true;
  const std::string page = to_html(sample_fleet(soft));
  EXPECT_NE(page.find("<h1 class=\"good\">SIMULATION PASSED</h1>"), page.npos);
  EXPECT_NE(page.find("this says nothing about real hardware"), page.npos);
}

TEST(FabricPage, ARunWithoutMeasurementsHasNoMapAndNoScript) {
  const std::string page = to_html(Report{});
  EXPECT_EQ(page.find("<script"), page.npos);
  EXPECT_NE(page.find("NOTHING PROVED"), page.npos);
}

TEST(FabricPage, AThousandHostsFitIntoTenMegabytes) {
  SampleFleet fleet;
  fleet.hosts = 1024;
  fleet.rails = 1;
  EXPECT_LT(to_html(sample_fleet(fleet)).size(), 10'000'000u);
}

TEST(FabricPageData, KeepsEveryFigureToATwoThousandth) {
  const Report report = sample_fleet();
  const PageData data = page_data(report);
  const json document = json::parse(data.json);
  const json& layer = document["layers"][1];
  ASSERT_EQ(layer["rail"], 1);
  ASSERT_TRUE(layer["is_dense"]);
  const std::vector<std::uint16_t> numbers = unpacked(layer["data"]);
  ASSERT_EQ(numbers.size(), 3u * 16 * 16);
  std::size_t compared = 0;
  for (const Measurement& one : report.measurements) {
    if (one.rail != 1 || one.is_retest) continue;
    const std::size_t at = one.from * 16 + one.to;
    EXPECT_NEAR(amount(layer["bandwidth_scale"], numbers[at]), one.bytes_per_second,
                one.bytes_per_second / 2000);
    EXPECT_NEAR(amount(layer["latency_scale"], numbers[256 + at]), one.latency, one.latency / 2000);
    EXPECT_EQ(numbers[512 + at] >> 3, one.round);
    EXPECT_EQ(numbers[512 + at] & 7, one.outcome == Outcome::kProved ? 1 : 4);
    ++compared;
  }
  EXPECT_EQ(compared, 16u * 15 - (16 - 1 - 4) * 2) << "all but those that n11 missed";
}

TEST(FabricPageData, ASampledFleetIsAListOfWhatWasMeasured) {
  SampleFleet fleet;
  fleet.hosts = 400;
  fleet.rails = 1;
  fleet.rounds = 4;
  const Report report = sample_fleet(fleet);
  const PageData data = page_data(report);
  const json layer = json::parse(data.json)["layers"][0];
  EXPECT_FALSE(layer["is_dense"]);
  EXPECT_EQ(layer["cells"], data.cells);
  EXPECT_EQ(unpacked(layer["data"]).size(), 5 * data.cells);
  EXPECT_EQ(data.shown, data.cells);
}

TEST(FabricPageData, TheWorstOutcomeOfACellIsShownWithTheFiguresThatItHas) {
  SampleFleet two;
  two.hosts = 2;
  two.rails = 1;
  two.is_healthy = true;
  Report report = sample_fleet(two);
  Measurement wrong = report.measurements[0], later = wrong;
  wrong.outcome = Outcome::kWrongBytes;
  wrong.bytes_per_second = 0;
  report.measurements.push_back(wrong);
  report.measurements.push_back(later);
  const json layer = json::parse(page_data(report).json)["layers"][0];
  const std::vector<std::uint16_t> numbers = unpacked(layer["data"]);
  const std::size_t at = layer["is_dense"].get<bool>() ? 1 : 2 * layer["cells"].get<std::size_t>();
  EXPECT_GT(numbers[at], 0) << "its bandwidth";
  EXPECT_EQ(numbers[at + 2 * layer["cells"].get<std::size_t>()] & 7, 2) << "wrong bytes";
}

TEST(FabricPageData, KeepsWhatStandsOutWhereNotAllFits) {
  SampleFleet fleet;
  fleet.hosts = 128;
  fleet.rails = 2;
  Report report = sample_fleet(fleet);
  const std::size_t most = 100'000;
  const PageData data = page_data(report, most);
  EXPECT_LT(data.shown, data.cells);
  EXPECT_GT(data.shown, data.cells / 10);
  const json document = json::parse(data.json);
  std::size_t bytes = 0, wrong = 0, failed = 0;
  for (const json& layer : document["layers"]) {
    const std::vector<std::uint16_t> numbers = unpacked(layer["data"]);
    bytes += numbers.size() * 2;
    for (std::size_t i = numbers.size() / 5 * 4; i < numbers.size(); ++i) {
      wrong += (numbers[i] & 7) == 2;
      failed += (numbers[i] & 7) == 3;
    }
  }
  EXPECT_LE(bytes, most);
  EXPECT_EQ(wrong, 1u);
  EXPECT_EQ(failed, 1u);
}

TEST(FabricPageData, KeepsWrongBytesEvenWhereMostOfTheFleetIsSlow) {
  SampleFleet fleet;
  fleet.hosts = 128;
  fleet.rails = 1;
  Report report = sample_fleet(fleet);
  for (Measurement& one : report.measurements) {
    if (one.outcome == Outcome::kProved) one.bytes_per_second /= 2;
  }
  std::ranges::find_if(report.measurements, [](const Measurement& one) {
    return one.from == 127 && one.to == 126;
  })->outcome = Outcome::kWrongBytes;
  const json layer = json::parse(page_data(report, 20'000).json)["layers"][0];
  const std::vector<std::uint16_t> numbers = unpacked(layer["data"]);
  EXPECT_EQ(std::ranges::count_if(std::span(numbers).last(numbers.size() / 5),
                                  [](std::uint16_t mark) { return (mark & 7) == 2; }),
            2);
}

TEST(FabricPageData, CrossedRailsAreLayersOfTheirOwn) {
  Report report = sample_fleet();
  Measurement crossed = report.measurements[0];
  crossed.rail = 1;
  crossed.far_rail = 0;
  report.measurements.push_back(crossed);
  const json layers = json::parse(page_data(report).json)["layers"];
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[2]["rail"], 1);
  EXPECT_EQ(layers[2]["far_rail"], 0);
}

TEST(FabricPageData, OrdersHostsByLeafAndNumbersAsNumbers) {
  EXPECT_TRUE(is_before("n2", "n10"));
  EXPECT_FALSE(is_before("n10", "n2"));
  EXPECT_TRUE(is_before("n9x1", "n9x02"));
  EXPECT_TRUE(is_before("n", "n0"));
  EXPECT_FALSE(is_before("n1", "n1"));
  EXPECT_TRUE(is_before("n01", "n1") != is_before("n1", "n01")) << "different names have an order";
  Report report;
  for (const auto& [name, leaf] :
       {std::pair("n1", ""), {"n10", "leaf2"}, {"n2", "leaf2"}, {"n3", "leaf10"}}) {
    Host& host = report.hosts.emplace_back();
    host.name = name;
    host.leaf = leaf;
  }
  EXPECT_EQ(hosts_in_order(report), (std::vector<HostIndex>{2, 1, 3, 0}));
}

TEST(FabricPageData, Base64IsThatOfTheStandard) {
  EXPECT_EQ(base64({}), "");
  EXPECT_EQ(base64({0x614d}), "TWE=");
  EXPECT_EQ(base64({0x614d, 0x4d6e}), "TWFuTQ==");
  EXPECT_EQ(base64({0x614d, 0x4d6e, 0x6e61}), "TWFuTWFu");
}

}  // namespace
}  // namespace gdr::fabric
