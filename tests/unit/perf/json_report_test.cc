#include "perf/output/json_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sample_report.h"

namespace gdr::perf {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

std::string error_of(const std::string& text) {
  const Result<Report> read = report_from_json(text);
  if (read) return "no error";
  EXPECT_EQ(read.error().message.find('\n'), std::string::npos) << read.error().message;
  return read.error().message;
}

std::string error_with(const std::string& where, const json& value) {
  json document = json::parse(to_json(sample_report()));
  document.at(Pointer(where)) = value;
  return error_of(document.dump());
}

std::string error_without(const std::string& where) {
  json document = json::parse(to_json(sample_report()));
  const Pointer pointer(where);
  document.at(pointer.parent_pointer()).erase(pointer.back());
  return error_of(document.dump());
}

TEST(PerfJson, IsReadBackAsItWasWritten) {
  const std::string text = to_json(sample_report());
  const Result<Report> read = report_from_json(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), text);
}

TEST(PerfJson, BeginsWithTheEnvelopeAndTheDateOfTheRun) {
  const std::string text =
      to_json(sample_report(), {"0.2.0", "7a19af9", "node7", "2026-11-26T10:12:00Z"});
  EXPECT_EQ(text.substr(0, text.find("\"command\"")),
            "{\"schema\":\"gdr.perf/1\",\n\"tool\":\"gdr perf\",\n\"version\":\"0.2.0\",\n"
            "\"commit\":\"7a19af9\",\n\"host\":\"node7\",\n\"date\":\"" +
                sample_report().date + "\",\n");
}

TEST(PerfJson, EscapesOfAServersTextWhatMovesACursorAndKeepsItsValue) {
  const std::string text = to_json(report_of_hostile_server());
  for (const char* raw : {"\x1b", "\xc2\x9b", "\xe2\x80\xae"}) {
    EXPECT_EQ(text.find(raw), text.npos) << text;
  }
  const json read = json::parse(text);
  EXPECT_EQ(read["far"]["host"], kHostile);
  EXPECT_EQ(read["rows"][0]["problem"], kHostile);
}

// Another value than `value` that the same field may have.
json other(const std::string& name, const json& value) {
  static const std::map<std::string, json> kOthers = {
      {"operation", "compare-swap"}, {"transport", "XRC"},   {"measure", "rate"},
      {"way", "peer-memory"},        {"service_level", 255}, {"traffic_class", 1}};
  if (const auto found = kOthers.find(name); found != kOthers.end()) return found->second;
  // In a load it is a place, in the document a side.
  if (value.is_string() && (name == "near" || name == "far")) return "gpu-vmm:77";
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_string()) return "other";
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() + 1;
  return value.get<double>() + 0.125;
}

TEST(PerfJson, LosesNoFieldOnTheWayThere) {
  // Rows that have everything between them; each of their fields, changed alone in what was
  // written, must come back changed.
  Report report = sample_report();
  report.rows = {report.rows[11], report.rows[18], report.rows[35]};
  report.rows[0].ports = {{"mlx5_0", "mlx5_0:2", 24e9, 1e6, 0.5},
                          {"mlx5_1", "mlx5_1", 24e9, 1e6, 0.5}};
  report.rows[1].latency->histogram = {{1, report.rows[1].latency->samples}};
  const json flat = json::parse(to_json(report)).flatten();
  std::size_t changed = 0;
  for (const auto& [where, value] : flat.items()) {
    const Pointer pointer(where);
    const bool counted = where.find("/histogram/") != where.npos || pointer.back() == "samples";
    const bool is_head = where == "/schema" || where == "/tool" || where == "/version" ||
                         where == "/commit" || where == "/host";
    // Flattened, an empty list is null.
    if (is_head || counted || value.is_null()) continue;
    json document = json::parse(to_json(report));
    document[pointer] = other(pointer.back(), value);
    const Result<Report> read = report_from_json(document.dump());
    ASSERT_TRUE(read) << where << ": " << read.error().message;
    EXPECT_EQ(json::parse(to_json(*read)), document) << where;
    ++changed;
  }
  EXPECT_GT(changed, 150u) << "fields of this document";
}

TEST(PerfJson, HasEveryFieldOfTheReport) {
  Report report = sample_report();
  const Row& row = report.rows[11];
  const json document = json::parse(to_json(report));
  const json& written = document["rows"][11];
  EXPECT_EQ(written["bandwidth_bytes_per_second"]["median"], row.bandwidth->median);
  EXPECT_EQ(written["bandwidth_bytes_per_second"]["repetitions"].size(), 5u);
  EXPECT_EQ(written["limits"][0]["advice"], row.limits[0].advice);
  EXPECT_EQ(written["limits"][0]["check"], "path-mtu");
  EXPECT_EQ(written["load"]["far"], "gpu:0");
  EXPECT_FALSE(written.contains("latency_ns")) << "what was not measured is left out";
  const json& latency = document["rows"][18]["latency_ns"];
  const std::vector<Bin>& bins = report.rows[18].latency->histogram;
  ASSERT_EQ(latency["histogram"]["ns"].size(), bins.size());
  EXPECT_EQ(latency["histogram"]["count"].back(), bins.back().count);
  EXPECT_EQ(document["clock"]["drift"], -1.5e-6);
  EXPECT_EQ(document["far"]["gpu_is_stand_in"], true);
  EXPECT_EQ(document["far"]["ports"][0]["nic"], "mlx5_0");
  EXPECT_EQ(written["ports"], json::array()) << "of one port there are no shares";
}

TEST(PerfJson, IsOneDocumentEvenWithNamesThatAreNoUtf8) {
  Report report = sample_report();
  report.near.host = "node\xff\n\x1b";
  const Result<Report> read = report_from_json(to_json(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->near.host, "node\xef\xbf\xbd\n\x1b");
}

TEST(PerfJson, IgnoresNamesThatItDoesNotKnow) {
  json document = json::parse(to_json(sample_report()));
  document["rows"][0]["load"]["later"] = {1, 2};
  EXPECT_TRUE(report_from_json(document.dump()));
}

TEST(PerfJsonReader, NamesTheFieldThatIsMissing) {
  EXPECT_EQ(error_without("/date"), "date is missing");
  EXPECT_EQ(error_without("/clock/drift"), "clock.drift is missing");
  EXPECT_EQ(error_without("/rows/3/load/size_bytes"), "rows[3].load.size_bytes is missing");
  EXPECT_EQ(error_without("/schema"), "schema is missing: this is not a report of gdr perf");
}

TEST(PerfJsonReader, NamesTheFieldOfTheWrongType) {
  EXPECT_EQ(error_with("/date", 7), "date must be text, is 7");
  EXPECT_EQ(error_with("/loopback", "yes"), "loopback must be true or false, is \"yes\"");
  EXPECT_EQ(error_with("/near", json::array()), "near must be an object, is a list");
  EXPECT_EQ(error_with("/rows", json::object()), "rows must be a list, is an object");
  EXPECT_EQ(error_with("/rows/2", nullptr), "rows[2] must be an object, is null");
  EXPECT_EQ(error_with("/near/gpus/0", 1), "near.gpus[0] must be text, is 1");
  EXPECT_EQ(error_with("/rows/0/bandwidth_bytes_per_second/median", nullptr),
            "rows[0].bandwidth_bytes_per_second.median must be a number from 0 to 1e+18, is null");
}

TEST(PerfJsonReader, RefusesNumbersThatNoReportHas) {
  EXPECT_EQ(error_with("/near/ports/0/port", -1),
            "near.ports[0].port must be a whole number from 0 to 4294967295, is -1");
  EXPECT_EQ(error_with("/near/ports/0/port", 4294967296),
            "near.ports[0].port must be a whole number from 0 to 4294967295, is 4294967296");
  EXPECT_EQ(error_with("/rows/0/load/service_level", 256),
            "rows[0].load.service_level must be a whole number from 0 to 255, is 256");
  EXPECT_EQ(
      error_with("/rows/0/load/size_bytes", 1.5).find("rows[0].load.size_bytes must be a whole"),
      0u);
  EXPECT_EQ(error_with("/seconds", 1e300), "seconds must be a number from 0 to 1e+18, is 1e+300");
  EXPECT_EQ(error_with("/seconds", -1.0), "seconds must be a number from 0 to 1e+18, is -1.0");
  EXPECT_EQ(error_of("{\"schema\":1e999}"), "not JSON: a number is too large");
  EXPECT_EQ(error_of("{\"seconds\":NaN}").find("not JSON: error at byte "), 0u);
}

TEST(PerfJsonReader, RefusesNamesThatItDoesNotKnow) {
  EXPECT_EQ(error_with("/rows/0/load/operation", "erase"),
            "rows[0].load.operation must be one of write, write-imm, read, send, fetch-add, "
            "compare-swap, is \"erase\"");
  for (const char* place : {"gpu", "gpu:", "gpu:-1", "gpu:01", "gpu:123456789", "gpu:1x", "disk"}) {
    EXPECT_EQ(error_with("/rows/0/load/far", place),
              std::string(
                  "rows[0].load.far must be host, gpu:N, gpu-vmm:N, staged:N or pinned:N, is \"") +
                  place + "\"");
  }
  EXPECT_EQ(error_with("/schema", "gdr.prove/1"),
            "schema must be \"gdr.perf/1\", is \"gdr.prove/1\"");
}

TEST(PerfJsonReader, RefusesAHistogramThatDoesNotAddUp) {
  const std::string where = "/rows/18/latency_ns/histogram";
  const auto with = [&](json ns, json count) {
    return error_with(where, {{"ns", std::move(ns)}, {"count", std::move(count)}});
  };
  const std::string name = "rows[18].latency_ns.histogram";
  EXPECT_EQ(with({1, 2}, {20'000}), name + " has 2 times but 1 count");
  EXPECT_EQ(with({2, 2}, {10'000, 10'000}), name + ".ns[1] is not above the one before");
  EXPECT_EQ(with({1, 2}, {10'000, 10'001}), name + " counts more than all samples");
  EXPECT_EQ(with({1, 2}, {10'000, 18446744073709551615u}), name + " counts more than all samples");
  EXPECT_EQ(with({1, 2}, {1, 2}), name + " counts 3 of 20000 samples");
  EXPECT_EQ(with({1, 2}, {10'000, 10'000}), "no error");
}

TEST(PerfJsonReader, SurvivesWhatIsCutOffOrTooDeep) {
  const std::string text = to_json(sample_report());
  for (std::size_t size = 0; size < text.size(); size += 1 + size / 7) {
    EXPECT_EQ(error_of(text.substr(0, size)), "not JSON: it ends too early") << size;
  }
  EXPECT_EQ(error_of(std::string(1'000'000, '[')), "the document is more than 16 levels deep");
  EXPECT_EQ(error_of("[]"), "the document must be an object, is a list");
  EXPECT_EQ(error_of("{\"schema\":\"" + std::string(40, '[') + "\"}"),
            "schema must be \"gdr.perf/1\", is a long text")
      << "brackets inside text nest nothing";
}

TEST(PerfJsonReader, QuotesWhatItFoundInOneHarmlessLine) {
  EXPECT_EQ(error_with("/schema", "a\nb\x1b[2J"),
            "schema must be \"gdr.perf/1\", is \"a\\nb\\u001b[2J\"");
}

}  // namespace
}  // namespace gdr::perf
