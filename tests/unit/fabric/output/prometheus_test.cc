#include "fabric/output/prometheus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "sample_fleet.h"

namespace gdr::fabric {
namespace {

using Labels = std::map<std::string, std::string>;

// A strict parser of the text format: every metric has its HELP and TYPE right before its samples,
// names and labels are of the characters that are allowed, no series stands twice.
class Parser {
 public:
  explicit Parser(const std::string& text) {
    EXPECT_TRUE(text.ends_with("\n"));
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) parse(line);
  }

  // NAN where there is no such series.
  double value(const std::string& name, const Labels& labels) const {
    const auto found = samples_.find({name, labels});
    return found == samples_.end() ? NAN : found->second;
  }
  std::size_t count(const std::string& name) const {
    std::size_t count = 0;
    for (const auto& [key, value] : samples_) count += key.first == name;
    return count;
  }

 private:
  static bool is_name(const std::string& name) {
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    if (name.empty() || !is_letter(name[0])) return false;
    for (const char c : name) {
      if (!is_letter(c) && !(c >= '0' && c <= '9')) return false;
    }
    return true;
  }

  void parse(const std::string& line) {
    SCOPED_TRACE(line);
    if (line.starts_with("# HELP ")) {
      helped_ = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(is_name(helped_));
      EXPECT_TRUE(metrics_.insert(helped_).second) << "a metric is told of once";
      typed_.clear();
    } else if (line.starts_with("# TYPE ")) {
      EXPECT_EQ(line, "# TYPE " + helped_ + " gauge");
      typed_ = helped_;
    } else {
      sample(line);
    }
  }

  void sample(const std::string& line) {
    std::size_t at = line.find_first_of("{ ");
    ASSERT_NE(at, line.npos);
    const std::string name = line.substr(0, at);
    EXPECT_TRUE(is_name(name));
    EXPECT_EQ(name, typed_) << "samples stand below their own head";
    EXPECT_TRUE(name.starts_with("gdr_fabric_"));
    Labels labels;
    if (line[at] == '{') read_labels(line, ++at, labels);
    ASSERT_LT(at, line.size());
    ASSERT_EQ(line[at], ' ');
    std::size_t used = 0;
    const std::string number = line.substr(at + 1);
    const double value = std::stod(number, &used);
    EXPECT_EQ(used, number.size());
    EXPECT_TRUE(samples_.emplace(std::pair(name, labels), value).second) << "a series stands once";
  }

  static void read_labels(const std::string& line, std::size_t& at, Labels& labels) {
    while (true) {
      const std::size_t equals = line.find("=\"", at);
      ASSERT_NE(equals, line.npos);
      const std::string name = line.substr(at, equals - at);
      EXPECT_TRUE(is_name(name));
      std::string value;
      for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\') {
          ++at;
          ASSERT_TRUE(line[at] == '\\' || line[at] == '"' || line[at] == 'n');
        }
        EXPECT_GE(static_cast<unsigned char>(line[at]), 0x20) << "a control character";
        value += line[at];
      }
      EXPECT_TRUE(labels.emplace(name, value).second);
      ASSERT_LT(++at, line.size());
      if (line[at] == '}') break;
      ASSERT_EQ(line[at], ',');
      ++at;
    }
    ++at;
  }

  std::set<std::string> metrics_;
  std::string helped_, typed_;
  std::map<std::pair<std::string, Labels>, double> samples_;
};

TEST(FabricPrometheus, HasAFigureForEachHostAndRailInBaseUnits) {
  const Report report = sample_fleet();
  const Parser parsed(to_prometheus(report));
  EXPECT_EQ(parsed.count("gdr_fabric_rail_sent_bytes_per_second"), 32u);
  EXPECT_EQ(parsed.count("gdr_fabric_rail_received_bytes_per_second"), 32u);
  const Labels slow{{"host", "n3"}, {"rail", "1"}, {"nic", "mlx5_1"}};
  EXPECT_NEAR(parsed.value("gdr_fabric_rail_sent_bytes_per_second", slow), 14.46e9, 0.3e9);
  EXPECT_NEAR(parsed.value("gdr_fabric_rail_fleet_ratio", slow), 0.6, 0.02);
  EXPECT_NEAR(parsed.value("gdr_fabric_rail_latency_seconds", slow), 4.3e-6, 0.2e-6);
  EXPECT_NEAR(parsed.value("gdr_fabric_fleet_bytes_per_second", {{"rail", "0"}}), 24.1e9, 0.3e9);
}

TEST(FabricPrometheus, CountsFindingsByCulpritAndTellsStates) {
  const Parser parsed(to_prometheus(sample_fleet()));
  EXPECT_EQ(parsed.value("gdr_fabric_findings", {{"culprit", "host"}}), 2);
  EXPECT_EQ(parsed.value("gdr_fabric_findings", {{"culprit", "NIC"}}), 1);
  EXPECT_EQ(parsed.value("gdr_fabric_findings", {{"culprit", "spine"}}), 0) << "none is 0";
  EXPECT_EQ(parsed.value("gdr_fabric_host_up", {{"host", "n11"}}), 0);
  EXPECT_EQ(parsed.value("gdr_fabric_host_up", {{"host", "n10"}}), 1);
  EXPECT_EQ(parsed.value("gdr_fabric_host_state", {{"host", "n11"}, {"state", "died"}}), 1);
  EXPECT_EQ(parsed.value("gdr_fabric_host_findings", {{"host", "n7"}}), 1);
  EXPECT_EQ(parsed.value("gdr_fabric_transfers", {{"outcome", "wrong bytes"}}), 1);
  EXPECT_EQ(parsed.value("gdr_fabric_exit_status", {}), 1);
  EXPECT_EQ(parsed.value("gdr_fabric_run_timestamp_seconds", {}), 1795687920);
}

TEST(FabricPrometheus, HostileAndEqualNamesMakeDifferentSeries) {
  Report report = sample_fleet();
  spoil(report);
  const Parser parsed(to_prometheus(report));
  EXPECT_EQ(parsed.count("gdr_fabric_host_up"), 16u);
  EXPECT_EQ(parsed.count("gdr_fabric_run_timestamp_seconds"), 0u) << "no date, no timestamp";
  report.hosts[0].name = "a\nb";
  report.hosts[1].name = "a b";
  EXPECT_EQ(Parser(to_prometheus(report)).count("gdr_fabric_host_up"), 16u);
}

TEST(FabricPrometheus, AnEmptyRunIsValidToo) {
  EXPECT_EQ(Parser(to_prometheus({})).value("gdr_fabric_exit_status", {}),
            3);  // nothing was compared
}

TEST(FabricPrometheus, DatesOfTheReportAndOfTheEnvelopeAreRead) {
  EXPECT_EQ(seconds_of_date("1970-01-02 00:01 UTC"), 86460);
  EXPECT_EQ(seconds_of_date("1970-01-02T00:00:01Z"), 86401);
  EXPECT_EQ(seconds_of_date("yesterday"), std::nullopt);
  EXPECT_EQ(seconds_of_date("1970-01-02T00:00:01Zx"), std::nullopt);
}

}  // namespace
}  // namespace gdr::fabric
