#include "doctor/prometheus_report.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

namespace gdr::doctor {
namespace {

// A sample as the exposition format has it: name, labels, value.
struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
  auto operator<=>(const Sample&) const = default;
};

// Reads the text format of Prometheus, strictly: what it cannot take is an error.
class Exposition {
 public:
  explicit Exposition(const std::string& text) {
    if (text.empty() || text.back() != '\n') errors.push_back("no line feed at the end");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read(line);
  }

  std::vector<Sample> samples;
  std::vector<std::string> errors;

  std::vector<Sample> of(const std::string& name) const {
    std::vector<Sample> found;
    for (const Sample& sample : samples) {
      if (sample.name == name) found.push_back(sample);
    }
    return found;
  }

 private:
  static bool is_name(const std::string& name) {
    if (name.empty() || isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
    for (const unsigned char c : name) {
      if (isalnum(c) == 0 && c != '_' && c != ':') return false;
    }
    return true;
  }
  void wrong(const std::string& what, const std::string& line) {
    errors.push_back(what + ": " + line);
  }
  void read(const std::string& line) {
    if (line.rfind("# HELP ", 0) == 0 || line.rfind("# TYPE ", 0) == 0) {
      std::istringstream words(line.substr(7));
      std::string name, rest;
      words >> name;
      std::getline(words, rest);
      if (!is_name(name)) wrong("no name", line);
      if (line[2] == 'H' && !helped_.insert(name).second) wrong("second help", line);
      if (line[2] == 'T' && (rest != " gauge" || !typed_.insert(name).second)) wrong("type", line);
      return;
    }
    Sample sample;
    std::size_t at = line.find_first_of("{ ");
    if (at == std::string::npos) return wrong("no value", line);
    sample.name = line.substr(0, at);
    if (line[at] == '{' && !read_labels(line, at, sample)) return wrong("labels", line);
    if (line[at] != ' ') return wrong("no blank before the value", line);
    char* end = nullptr;
    sample.value = strtod(line.c_str() + at + 1, &end);
    if (*end != '\0' || end == line.c_str() + at + 1) wrong("value", line);
    if (!typed_.contains(sample.name)) wrong("no type before it", line);
    if (!series_.insert({sample.name, sample.labels}).second) wrong("twice", line);
    samples.push_back(sample);
  }
  // From the brace to behind the other one.
  static bool read_labels(const std::string& line, std::size_t& at, Sample& sample) {
    do {
      ++at;
      const auto equals = line.find("=\"", at);
      if (equals == std::string::npos) return false;
      const std::string name = line.substr(at, equals - at);
      std::string value;
      for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\') {
          ++at;
          if (at == line.size() || (line[at] != '\\' && line[at] != '"' && line[at] != 'n')) {
            return false;
          }
        }
        value += line[at];
      }
      if (at >= line.size() || !is_name(name)) return false;
      sample.labels[name] = value;
      ++at;
    } while (at < line.size() && line[at] == ',');
    if (at >= line.size() || line[at] != '}') return false;
    ++at;
    return at < line.size();
  }

  std::set<std::string> helped_, typed_;
  std::set<std::pair<std::string, std::map<std::string, std::string>>> series_;
};

constexpr Check kFirst{"first", Area::kPcie, "", "", 1, Cost::kPassive, nullptr};
constexpr Check kSecond{"second", Area::kNic, "", "", 2, Cost::kProbe, nullptr};

Finding finding(Outcome outcome, const std::string& subject) {
  Finding made;
  made.outcome = outcome;
  made.subject = subject;
  return made;
}

Report report() {
  Report made;
  made.judgements.push_back(
      {&kFirst,
       {finding(Outcome::kOk, "a"), finding(Outcome::kWarn, "b"), finding(Outcome::kUnknown, "c")},
       0.25,
       {}});
  made.judgements.push_back({&kSecond, {finding(Outcome::kFail, "")}, 1.5, {}});
  return made;
}

TEST(PrometheusReport, HasASampleForEachFinding) {
  const Exposition read(to_prometheus(report()));
  EXPECT_EQ(read.errors, std::vector<std::string>{});
  const auto checks = read.of("gdr_doctor_check");
  ASSERT_EQ(checks.size(), 4u);
  EXPECT_EQ(checks[1].labels.at("subject"), "b");
  EXPECT_EQ(checks[1].labels.at("area"), "pcie");
  EXPECT_EQ(checks[0].value, 0);
  EXPECT_EQ(checks[1].value, 1);
  EXPECT_EQ(checks[2].value, 3);
  EXPECT_EQ(checks[3].value, 2);
}

TEST(PrometheusReport, SumsUp) {
  const Exposition read(to_prometheus(report()));
  const auto worst = read.of("gdr_doctor_check_worst");
  ASSERT_EQ(worst.size(), 2u);
  EXPECT_EQ(worst[0].value, 1) << "a warning outweighs what is unknown";
  ASSERT_EQ(read.of("gdr_doctor_findings").size(), 4u);
  EXPECT_EQ(read.of("gdr_doctor_findings")[2].labels.at("outcome"), "fail");
  EXPECT_EQ(read.of("gdr_doctor_findings")[2].value, 1);
  EXPECT_EQ(read.of("gdr_doctor_exit_status")[0].value, 1);
  EXPECT_EQ(read.of("gdr_doctor_seconds")[1].value, 1.5);
}

TEST(PrometheusReport, TakesNamesOfAnyBytes) {
  Report made;
  made.judgements.push_back({&kFirst,
                             {finding(Outcome::kOk, "a\"b\\c\nd\xff"), finding(Outcome::kOk, "x"),
                              finding(Outcome::kFail, "x"), finding(Outcome::kUnknown, "x")},
                             0,
                             {}});
  const Exposition read(to_prometheus(made));
  EXPECT_EQ(read.errors, std::vector<std::string>{});
  const auto checks = read.of("gdr_doctor_check");
  ASSERT_EQ(checks.size(), 2u) << "one series for one subject";
  EXPECT_EQ(checks[0].labels.at("subject"), "a\"b\\c d?");
  EXPECT_EQ(checks[1].value, 2) << "the worst of them";
}

TEST(PrometheusReport, OfNothingIsStillAReport) {
  const Exposition read(to_prometheus({}));
  EXPECT_EQ(read.errors, std::vector<std::string>{});
  EXPECT_EQ(read.of("gdr_doctor_exit_status")[0].value, 0);
}

}  // namespace
}  // namespace gdr::doctor
