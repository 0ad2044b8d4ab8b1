#include "fabric/output/json_report.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "fabric/output/json_lines.h"
#include "sample_fleet.h"

namespace gdr::fabric {
namespace {

using nlohmann::json;

std::string error_of(const std::string& text) {
  const Result<Report> report = report_from_json(text);
  return report ? "none" : report.error().message;
}

std::string error_of(const json& document) { return error_of(document.dump()); }

// What JsonLines wrote of a run of which `events` were seen.
std::string lines_of(const Report& whole, bool ends, std::uint32_t rounds = 1000) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&buffer, &size);
  JsonLines lines(file, {"0.2.0", "abc", "n0", "2026-11-26T10:12:00Z"});
  Report so_far = whole;
  so_far.findings.clear();
  so_far.measurements.clear();
  so_far.rounds_done = 0;
  lines.on_begin(so_far);
  for (std::uint32_t number = 0; number < std::min(rounds, whole.rounds_done); ++number) {
    std::vector<Measurement> found;
    std::vector<Incident> incidents;
    for (const Measurement& one : whole.measurements) {
      if (one.round == number && !one.is_retest) found.push_back(one);
    }
    for (const Incident& one : whole.incidents) {
      if (one.round == number) incidents.push_back(one);
    }
    Round round;
    round.number = number;
    lines.on_round(so_far, round, found, incidents);
  }
  lines.on_host(so_far, 1);
  lines.on_judged(so_far,
                  std::span(whole.findings).first(std::min<std::size_t>(1, whole.findings.size())));
  if (ends) {
    lines.on_retests(so_far, 1);
    Round again;
    again.is_retest = true;
    std::vector<Measurement> found;
    for (const Measurement& one : whole.measurements) {
      if (one.is_retest) found.push_back(one);
    }
    lines.on_round(so_far, again, found, {});
    lines.on_end(whole);
  }
  EXPECT_FALSE(lines.error());
  std::fclose(file);
  std::string text(buffer, size);
  free(buffer);
  return text;
}

// A file may be anybody's: what it says to type is not read. Afterwards the two compare.
void expect_no_commands(Report* again, const Report& written) {
  for (std::size_t i = 0; i < written.findings.size(); ++i) {
    EXPECT_TRUE(again->findings.at(i).next.empty());
    again->findings[i].next = written.findings[i].next;
  }
}

TEST(FabricJson, ReadsBackAllThatItWroteButWhatToType) {
  const Report report = sample_fleet();
  const std::string text = to_json(report, {"0.2.0", "abc", "n0", "2026-11-26T10:12:00Z"});
  Result<Report> again = report_from_json(text);
  ASSERT_TRUE(again) << again.error().message;
  expect_no_commands(&*again, report);
  EXPECT_EQ(to_json(*again, {"0.2.0", "abc", "n0", "2026-11-26T10:12:00Z"}), text);
  EXPECT_EQ(again->measurements.size(), report.measurements.size());
  EXPECT_EQ(again->measurements[7].bytes_per_second, report.measurements[7].bytes_per_second);
  EXPECT_EQ(again->findings[2].doctor, report.findings[2].doctor);
  EXPECT_EQ(again->findings[1].rail, -1);
  EXPECT_EQ(again->hosts[11].state, HostState::kDied);
  EXPECT_EQ(exit_status(*again), 1);
}

TEST(FabricJson, BeginsWithTheEnvelopeAndTheVerdict) {
  const json document = json::parse(to_json(sample_fleet(), {"0.2.0", "abc", "n0", "now"}));
  EXPECT_EQ(document["schema"], "gdr.fabric/1");
  EXPECT_EQ(document["tool"], "gdr fabric");
  EXPECT_EQ(document["verdict"], "4 FINDINGS");
  EXPECT_EQ(document["exit_status"], 1);
  EXPECT_EQ(document["hosts"][11]["state"], "died");
  EXPECT_EQ(document["measurement_fields"].size(), document["measurements"][0].size());
}

TEST(FabricJson, HostileNamesComeBackUnchangedAndShowNothingOnATerminal) {
  Report report = sample_fleet();
  spoil(report);
  const std::string text = to_json(report);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  const Result<Report> again = report_from_json(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->hosts[3].name, kEvilName);
}

TEST(FabricJson, FiguresThatAreNotNumbersMakeAValidDocument) {
  Report report = sample_fleet();
  report.measurements[0].bytes_per_second = std::numeric_limits<float>::infinity();
  report.measurements[0].latency = std::numeric_limits<float>::quiet_NaN();
  const Result<Report> again = report_from_json(to_json(report));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->measurements[0].bytes_per_second, 0);
}

TEST(FabricJson, SaysInOneLineWhatIsMalformed) {
  const json good = json::parse(to_json(sample_fleet()));
  EXPECT_EQ(error_of(std::string("{")), "not JSON: it ends too early");
  EXPECT_EQ(error_of(std::string("[]")), "the document must be an object, is a list");
  EXPECT_EQ(error_of(json{{"a", 1}}), "schema is missing: this is not a report of gdr fabric");
  EXPECT_EQ(error_of(json{{"schema", "gdr.perf/1"}}),
            "schema must be \"gdr.fabric/1\", is \"gdr.perf/1\"");
  EXPECT_EQ(error_of(std::string(40, '[')), "the document is more than 16 levels deep");
  const auto with = [&](const char* pointer, const json& value) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    return error_of(bad);
  };
  EXPECT_EQ(with("/hosts/3/state", "asleep"),
            "hosts[3].state must be one of there, never came, left out, died, hung, is \"asleep\"");
  EXPECT_EQ(with("/seconds", -1), "seconds must be a number from 0 to 1e+18, is -1");
  EXPECT_EQ(with("/rounds_done", 1.5),
            "rounds_done must be a whole number from 0 to 4294967295, is 1.5");
  EXPECT_EQ(with("/findings/0/rail", -2),
            "findings[0].rail must be a whole number from -1 to 2147483647, is -2");
  EXPECT_EQ(with("/rails/0", json::object()), "rails[0] must be text, is an object");
  EXPECT_EQ(with("/measurements/5/5", "fine"), "measurements[5][5] is no outcome");
  EXPECT_EQ(with("/measurements/5", 3), "measurements[5] must be a list of 9 values");
  EXPECT_EQ(with("/measurements", 3), "measurements must be a list, is 3");
}

TEST(FabricJson, RefusesPlacesThatItsListsDoNotHave) {
  const json good = json::parse(to_json(sample_fleet()));
  const auto with = [&](const char* pointer, const json& value) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    return error_of(bad);
  };
  EXPECT_EQ(with("/measurements/5/0", 16),
            "measurements[5].from is host 16, but there are 16 hosts");
  EXPECT_EQ(with("/measurements/5/4", 2),
            "measurements[5].far_rail is rail 2, but there are 2 rails");
  EXPECT_EQ(with("/incidents/0/to", 99), "incidents[0].to is host 99, but there are 16 hosts");
  EXPECT_EQ(with("/findings/0/hosts/1", 16),
            "findings[0].hosts is host 16, but there are 16 hosts");
  EXPECT_EQ(with("/findings/2/rail", 2), "findings[2].rail is rail 2, but there are 2 rails");
}

TEST(FabricJson, RefusesMoreRailsThanMemoryHolds) {
  Report report;
  report.hosts.resize(3000);
  report.hosts[0].rails.resize(2000);
  EXPECT_EQ(error_of(to_json(report)),
            "hosts has 3000 hosts with up to 2000 rails; at most 4000000 rails in all are read");
}

TEST(FabricJson, ADocumentThatIsCutAnywhereIsAnErrorAndNeverACrash) {
  SampleFleet small;
  small.hosts = 12;
  small.rails = 1;
  small.rounds = 2;
  const std::string text = to_json(sample_fleet(small));
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    EXPECT_NE(error_of(text.substr(0, size)), "none");
  }
}

TEST(FabricJsonLines, AWholeFileIsTheSameReport) {
  const Report report = sample_fleet();
  Result<Report> again = report_from_json(lines_of(report, true));
  ASSERT_TRUE(again) << again.error().message;
  expect_no_commands(&*again, report);
  EXPECT_EQ(to_json(*again), to_json(report));
}

TEST(FabricJsonLines, EachLineIsAnObjectWithAnEvent) {
  const std::string text = lines_of(sample_fleet(), true);
  std::size_t from = 0, lines = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', from)) {
    const json line = json::parse(text.substr(from, end - from));
    EXPECT_TRUE(line["event"].is_string());
    from = end + 1;
    ++lines;
  }
  EXPECT_EQ(from, text.size());
  EXPECT_EQ(lines, 1u + 15 + 1 + 1 + 1 + 1 + 4 + 1);
  EXPECT_EQ(json::parse(text.substr(0, text.find('\n')))["schema"], "gdr.fabric.lines/1");
}

TEST(FabricJsonLines, ARunThatWasKilledKeepsItsRoundsAndIsInterrupted) {
  const Result<Report> report = report_from_json_lines(lines_of(sample_fleet(), false, 6));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->is_interrupted);
  EXPECT_EQ(report->rounds_done, 6u);
  EXPECT_EQ(report->rounds_planned, 15u);
  EXPECT_EQ(report->hosts.size(), 16u);
  EXPECT_FALSE(report->measurements.empty());
  ASSERT_EQ(report->findings.size(), 1u) << "the suspects so far";
  EXPECT_EQ(report->findings[0].text, "n2 to n5: wrong bytes on mlx5_0");
}

TEST(FabricJsonLines, AFileThatIsCutAnywhereBehindItsFirstLineIsARun) {
  SampleFleet small;
  small.hosts = 12;
  small.rails = 1;
  small.rounds = 3;
  const std::string text = lines_of(sample_fleet(small), true);
  const std::size_t first = text.find('\n') + 1;
  for (std::size_t size = 0; size < first; size += 5) {
    EXPECT_EQ(error_of(text.substr(0, size)) == "none", false);
  }
  for (std::size_t size = first; size < text.size(); size += 11) {
    const Result<Report> report = report_from_json_lines(text.substr(0, size));
    ASSERT_TRUE(report) << size << ": " << report.error().message;
    EXPECT_TRUE(report->is_interrupted);
  }
}

TEST(FabricJsonLines, NamesTheLineThatIsMalformed) {
  const std::string text = lines_of(sample_fleet(), true);
  const std::string first = text.substr(0, text.find('\n') + 1);
  EXPECT_EQ(error_of(first + "nonsense\n"), "line 2: not JSON: error at byte 2");
  EXPECT_EQ(error_of(first + "[]\n"), "line 2: must be an object, is a list");
  EXPECT_EQ(error_of(first + "{}\n"), "line 2: has no event");
  EXPECT_EQ(error_of(first + first), "line 2: a second event \"begin\"");
  EXPECT_EQ(error_of(first + "{\"event\":\"round\",\"is_retest\":false,\"incidents\":[],"
                             "\"measurements\":[[99,0,0,0,0,\"proved\",false,1,1]]}\n"),
            "measurements[0].from is host 99, but there are 16 hosts");
  EXPECT_EQ(error_of(first + "{\"event\":\"host\",\"index\":99,\"host\":{}}\n"),
            "line 2: host.name is missing");
  EXPECT_EQ(error_of(text + "{\"event\":\"suspects\",\"findings\":[]}\n"),
            "line 26: something follows the event \"end\"");
}

TEST(FabricJsonLines, SkipsEventsThatOnlyALaterVersionKnows) {
  const std::string text = lines_of(sample_fleet(), false);
  EXPECT_EQ(error_of(text + "{\"event\":\"moon\"}\n"), "none");
}

TEST(FabricJsonLines, ARoundIsInTheFileAsSoonAsItIsDone) {
  const Report report = sample_fleet();
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  JsonLines lines(file, {});
  lines.on_begin(report);
  const off_t begun = lseek(fileno(file), 0, SEEK_CUR);
  EXPECT_GT(begun, 0);
  lines.on_round(report, {}, std::span(report.measurements).first(1), {});
  EXPECT_GT(lseek(fileno(file), 0, SEEK_CUR), begun);
  std::fclose(file);
}

TEST(FabricJsonLines, KeepsTheErrorOfAFullDisk) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  JsonLines lines(full, {});
  lines.on_begin(sample_fleet());
  ASSERT_TRUE(lines.error());
  EXPECT_EQ(lines.error()->code, ENOSPC);
  std::fclose(full);
}

}  // namespace
}  // namespace gdr::fabric
