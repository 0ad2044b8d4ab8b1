#include <gtest/gtest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>

#include "proof/json_report.h"
#include "proof/text_report.h"
#include "proof/verdict.h"

namespace gdr::proof {
namespace {

Report report() {
  Report result;
  result.inventory.soft_nic = result.inventory.soft_gpu = true;
  GpuEntry gpu;
  gpu.survey = {0, "software \xff GPU", "fffe:01:00.0", "GPU-0", 8ull << 30, true, true};
  result.inventory.gpus.push_back(gpu);
  NicEntry nic;
  nic.survey = {
      "soft0",
      "",
      {{1, true, true, 4096, 100000, "::ffff:127.10.0.1", "127.10.0.1", "02:00:00:00:00:01", ""}}};
  result.inventory.nics.push_back(nic);
  RegistrationResult registration;
  registration.nic = "soft0";
  registration.gpu = "GPU 0";
  registration.ok = true;
  registration.size = 2 << 20;
  result.registrations.push_back(registration);
  Check check;
  check.mode = "write";
  check.title = "RC write";
  check.gpu = "GPU 0";
  check.from_nic = "soft0";
  check.to_nic = "soft1";
  check.status = Status::kProved;
  check.transfers = 19;
  check.bytes = 4163;
  check.least = 1;
  check.most = 4097;
  result.checks.push_back(check);
  Measurement measurement;
  measurement.size = 8 << 20;
  measurement.direct_nanoseconds = 1'000'000;
  measurement.serial_nanoseconds = 2'500'000;
  measurement.double_nanoseconds = 1'500'000;
  measurement.small_nanoseconds = 1500;
  result.measurements.push_back(measurement);
  result.verdict = decide({}, result);
  return result;
}

// The text as it goes into a pipe, all of it.
std::string text_of(const Report& result, Style style) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&buffer, &size);
  TextReport text(file, style);
  text.on_inventory(result.inventory);
  for (const auto& registration : result.registrations) text.on_registration(registration);
  text.on_progress("RC write", 1, 4);
  for (const auto& check : result.checks) text.on_check(check);
  for (const auto& measurement : result.measurements) text.on_measurement(measurement);
  text.finish(result);
  std::fclose(file);
  std::string written(buffer, size);
  free(buffer);
  return written;
}

TEST(JsonReport, IsOneDocumentEvenWithNamesThatAreNoUtf8) {
  const auto json = nlohmann::json::parse(to_json(report()));
  EXPECT_EQ(json["verdict"], "PROVED ON STAND-INS");
  EXPECT_EQ(json["exit_status"], 0);
  EXPECT_EQ(json["stand_ins"], (std::vector<std::string>{"RDMA NIC", "GPU"}));
  EXPECT_EQ(json["inventory"]["gpus"][0]["stand_in"], true);
  EXPECT_EQ(json["checks"][0]["mode"], "write");
  EXPECT_EQ(json["checks"][0]["status"], "proved");
  EXPECT_EQ(json["measurements"][0]["staged_serial_ratio"], 2.5);
}

TEST(TextReport, InAPipeHasNeitherColoursNorAProgressBar) {
  const std::string text = text_of(report(), Style{});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("PROVED ON STAND-INS"), std::string::npos);
  EXPECT_NE(text.find("nothing is claimed about real ones"), std::string::npos);
  EXPECT_NE(text.find("STAND-IN\n"), std::string::npos);
  EXPECT_NE(text.find("(2.50x)"), std::string::npos);
}

TEST(TextReport, OnATerminalDrawsABarAndTakesItAway) {
  Style style;
  style.progress = true;
  const std::string text = text_of(report(), style);
  const auto bar = text.find("25%");
  ASSERT_NE(bar, std::string::npos);
  EXPECT_NE(text.find("\r\x1b[K", bar), std::string::npos) << "cleared before the next line";
  EXPECT_EQ(text.find("\x1b[32m"), std::string::npos) << "no colours were asked for";
}

TEST(TextReport, OfAFailureGivesSeenCausesAndNext) {
  Report failed = report();
  failed.checks[0].status = Status::kFailed;
  failed.checks[0].symptom = Symptom::kDisplaced;
  failed.checks[0].reason = "the data is displaced by +65536 bytes";
  failed.checks[0].advice = {{"page size"}, "some command"};
  failed.verdict = decide({}, failed);
  const std::string text = text_of(failed, Style{});
  EXPECT_NE(text.find("\nFAILED"), std::string::npos);
  EXPECT_NE(text.find("displaced by +65536 bytes"), std::string::npos);
  EXPECT_NE(text.find("causes      1. page size"), std::string::npos);
  EXPECT_NE(text.find("next        some command"), std::string::npos);
}

}  // namespace
}  // namespace gdr::proof
