#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proof/json_report.h"
#include "proof/report_page.h"
#include "reports.h"

namespace gdr::proof {
namespace {

TEST(JsonReport, IsOneDocumentEvenWithNamesThatAreNoUtf8) {
  const auto json = nlohmann::json::parse(to_json(report()));
  EXPECT_EQ(json["verdict"], "SIMULATION PASSED");
  EXPECT_EQ(json["exit_status"], 0);
  EXPECT_EQ(json["stand_ins"], (std::vector<std::string>{"RDMA NIC", "GPU"}));
  EXPECT_EQ(json["inventory"]["gpus"][0]["stand_in"], true);
  EXPECT_EQ(json["checks"][0]["mode"], "write");
  EXPECT_EQ(json["checks"][0]["status"], "proved");
  EXPECT_EQ(json["inventory"]["gpus"][0]["uuid"], "GPU-0");
}

TEST(JsonReport, NamesBothGpusAndWhichOfThemTheDataCameFromAndWentTo) {
  const auto json = nlohmann::json::parse(to_json(report_of_two_gpus()));
  const auto& pair = json["participants"][0];
  EXPECT_EQ(pair["from_nic"], "soft0");
  EXPECT_EQ(pair["from_gpu"]["ordinal"], 1);
  EXPECT_EQ(pair["from_gpu"]["pci_address"], "fffe:02:00.0");
  EXPECT_EQ(pair["from_gpu"]["name"], "the other GPU");
  EXPECT_EQ(pair["gpu"]["pci_address"], "fffe:01:00.0");
  EXPECT_EQ(json["real"], std::vector<std::string>{});
  EXPECT_NE(json["on"][0].get<std::string>().find("GPU 1 (fffe:02:00.0, the other GPU)"),
            std::string::npos);
  const auto& checks = json["checks"];
  EXPECT_EQ(checks[0]["gpu"], "GPU 0");
  EXPECT_EQ(checks[0]["from_gpu"], "GPU 1");
  EXPECT_EQ(checks[0]["source_gpu"], "GPU 1");
  EXPECT_EQ(checks[0]["target_gpu"], "GPU 0");
  EXPECT_EQ(checks[1]["source_gpu"], "GPU 0") << "a read fetches";
  EXPECT_EQ(checks[1]["target_gpu"], "GPU 1");
  EXPECT_EQ(checks[2]["target_gpu"], "") << "host memory";
  EXPECT_EQ(json["measurements"][1]["source_gpu"], "GPU 1");
  EXPECT_EQ(json["measurements"][1]["target_gpu"], "GPU 0");
}

TEST(TextReport, SaysOfTwoGpusWhichOneEachRowIsFromAndTo) {
  const std::string text = text_of(report_of_two_gpus(), Style{});
  EXPECT_NE(text.find("Transfers soft0 → soft1, GPU 1 → GPU 0: every byte"), std::string::npos)
      << text;
  EXPECT_NE(text.find("ok      RC write           GPU 1 → GPU 0 VMM "), std::string::npos) << text;
  EXPECT_NE(text.find("ok      RC read            GPU 0 → GPU 1 VMM "), std::string::npos) << text;
  EXPECT_NE(text.find("ok      RC send            GPU 1 → host "), std::string::npos) << text;
  EXPECT_NE(text.find("Speed of RC write, soft0 → soft1, GPU 1 → GPU 0: direct vs. staged"),
            std::string::npos);
  EXPECT_NE(text.find("\n  GPU 1 → GPU 0  1.5 µs"), std::string::npos) << text;
  EXPECT_NE(text.find("on          GPU 1 (fffe:02:00.0, the other GPU) beside soft0, GPU 0 "
                      "(fffe:01:00.0, software ? GPU) beside soft1\n"),
            std::string::npos)
      << text;
}

TEST(TextReport, OfTwoGpusKeepsTheMeasuredRowsWithinEightyColumns) {
  Report result = report_of_two_gpus();
  result.checks.clear();
  Measurement& fast = result.measurements[1];
  fast.small_nanoseconds = 10'600;
  fast.direct_nanoseconds = 13'640;
  fast.bytes_per_second = 365e9;
  fast.serial_nanoseconds = 1'130'000;
  fast.double_nanoseconds = 700'000;
  Style style;
  style.columns = 80;
  const std::string text = text_of(result, style);
  EXPECT_NE(text.find("  GPU 1 → GPU 0 10.6 µs  615 GB/s     365 GB/s  7.4 GB/s, 82.8x 12.0 GB/s, "
                      "51.3x\n"),
            std::string::npos)
      << text;
}

TEST(TextReport, NamesThePartThatWasRealBesideTheStandIn) {
  Report result = report();
  result.inventory.soft_gpu = false;
  result.participants.push_back({"soft0", "soft1", "fffe:01:00.0", "fffe:01:00.0", "", ""});
  result.verdict = decide({}, result);
  const std::string text = text_of(result, Style{});
  EXPECT_NE(text.find("\n  on          GPU 0 (fffe:01:00.0, software ? GPU)\n"
                      "  real        GPU\n  replaced    RDMA NIC by gdrkit's"),
            std::string::npos)
      << text;
}

// Registered through the kernel's module, which says its version.
Report report_by_a_module() {
  Report result = report();
  result.inventory.soft_nic = false;
  RegistrationResult& registration = result.registrations[0];
  registration.registration = Registration::kPeerMemory;
  registration.used = true;
  registration.modules = {{"nvidia_peermem", "gdrkit-0.1.0"}};
  result.verdict = decide({}, result);
  return result;
}

TEST(TextReport, NamesTheModuleWithTheRegistrationAndAsTheWayTaken) {
  const std::string text = text_of(report_by_a_module(), Style{});
  EXPECT_NE(text.find("2 MiB on GPU 0 registered with soft0 by nvidia_peermem gdrkit-0.1.0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  way         peer memory (nvidia_peermem gdrkit-0.1.0)\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text_of(report(), Style{}).find("  way "), std::string::npos) << "none was taken";
}

TEST(JsonReport, NamesTheModuleWithTheRegistrationAndAsTheWayTaken) {
  const auto json = nlohmann::json::parse(to_json(report_by_a_module()));
  EXPECT_EQ(json["ways"], std::vector<std::string>{"peer memory (nvidia_peermem gdrkit-0.1.0)"});
  const auto& registration = json["registrations"][0];
  EXPECT_EQ(registration["used"], true);
  EXPECT_EQ(registration["modules"][0]["name"], "nvidia_peermem");
  EXPECT_EQ(registration["modules"][0]["version"], "gdrkit-0.1.0");
}

TEST(JsonReport, HasNoNumberForWhatWasNotMeasured) {
  const auto json = nlohmann::json::parse(to_json(report()));
  const auto& control = json["measurements"][0];
  for (const char* name : {"staged_serial_ns", "staged_serial_ratio", "staged_double_buffered_ns",
                           "staged_double_buffered_ratio", "in_flight_bytes_per_second"}) {
    EXPECT_TRUE(control.contains(name) && control[name].is_null()) << name;
  }
  const auto& device = json["measurements"][1];
  EXPECT_EQ(device["staged_serial_ratio"], 2.5);
  EXPECT_EQ(device["staged_double_buffered_ns"], 1'500'000);
  EXPECT_EQ(device["in_flight"], 4);
  EXPECT_EQ(device["in_flight_bytes_per_second"], 12.5e9);
}

TEST(TextReport, OfHostMemoryAloneSpeaksOfNoGpu) {
  Report result = report();
  result.inventory.soft_gpu = false;
  result.inventory.host_memory_only = true;
  result.inventory.gpus.clear();
  result.registrations.clear();
  for (Check& check : result.checks) check.gpu = "";
  for (Measurement& measurement : result.measurements) measurement.gpu = "";
  result.verdict = decide({}, result);
  const std::string text = text_of(result, Style{});
  EXPECT_NE(text.find("GPU           skipped (--memory host)"), std::string::npos) << text;
  EXPECT_NE(text.find("Transfers soft0 → soft1: every byte"), std::string::npos) << text;
  EXPECT_NE(text.find("not proved  GPU memory"), std::string::npos) << text;
  EXPECT_EQ(text.find("staged"), std::string::npos) << text;
}

TEST(TextReport, InAPipeHasNeitherColoursNorAProgressBar) {
  const std::string text = text_of(report(), Style{});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("SIMULATION PASSED"), std::string::npos);
  EXPECT_NE(text.find("this says nothing about real ones"), std::string::npos);
  EXPECT_NE(text.find("STAND-IN\n"), std::string::npos);
  EXPECT_NE(text.find("3.4 GB/s, 2.5x"), std::string::npos);
  EXPECT_NE(text.find("GPU-0"), std::string::npos) << "the UUID can be typed after --gpu";
}

TEST(TextReport, FitsATerminalOfEightyColumnsAndInAPipeKeepsALinePerCheck) {
  Report result = report();
  Check failed = result.checks[0];
  failed.status = Status::kFailed;
  failed.failed = 3;
  failed.transfer = "4097 B at offset 4093";
  failed.reason =
      "completion without data: success was reported, but the memory is unchanged: none of 4097 "
      "bytes arrived";
  result.checks.push_back(failed);
  result.checks[0].title = "RC write with imm";
  result.checks[0].direction = {MemoryKind::kDeviceVmm, MemoryKind::kDeviceVmm};
  result.checks[0].most = (1 << 20) + 13;
  result.verdict = decide({}, result);
  Style style;
  style.columns = 80;
  const std::string narrow = text_of(result, style);
  EXPECT_LE(widest(narrow), 80u) << narrow;
  EXPECT_NE(narrow.find("RC write with imm  GPU VMM → GPU VMM 19 transfers  1 B to 1 MiB + 13 B\n"),
            std::string::npos)
      << narrow;
  const std::string piped = text_of(result, Style{});
  EXPECT_NE(piped.find("3 of 19 failed; 4097 B at offset 4093: " + failed.reason + "\n"),
            std::string::npos)
      << piped;
}

TEST(TextReport, CountsOneTransferInTheSingular) {
  Report result = report();
  result.checks[0].transfers = 1;
  const std::string text = text_of(result, Style{});
  EXPECT_NE(text.find("1 transfer  "), std::string::npos) << text;
  EXPECT_EQ(text.find("1 transfers"), std::string::npos);
}

TEST(TextReport, SaysOfAStandInsTimesThatTheyAreNoNics) {
  Report result = report();
  for (const auto& [detail, words] :
       {std::pair(Detail::kFull, "these numbers measure memory copies"),
        std::pair(Detail::kBrief, "of memory copies, no NIC's")}) {
    result.inventory.soft_nic = true;
    EXPECT_NE(text_of(result, Style{}, detail).find(words), std::string::npos);
    result.inventory.soft_nic = false;
    EXPECT_EQ(text_of(result, Style{}, detail).find(words), std::string::npos);
  }
}

TEST(TextReport, SaysWhichDevicesWereNotFoundAndWhy) {
  Report nothing;
  nothing.inventory.cuda_problem = "cannot load libcuda.so.1";
  nothing.verdict = decide({}, nothing);
  const std::string text = text_of(nothing, Style{});
  EXPECT_NE(text.find("GPU           none found: cannot load libcuda.so.1\n"), std::string::npos);
  EXPECT_NE(text.find("NIC           none found\n"), std::string::npos);
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
  failed.checks[0].advice = {{"page size"}, text::Command("some command")};
  failed.verdict = decide({}, failed);
  const std::string text = text_of(failed, Style{});
  EXPECT_NE(text.find("\nFAILED"), std::string::npos);
  EXPECT_NE(text.find("displaced by +65536 bytes"), std::string::npos);
  EXPECT_NE(text.find("causes      1. page size"), std::string::npos);
  EXPECT_NE(text.find("next        some command"), std::string::npos);
}

TEST(Ticket, NameOfTheOtherHostTakesNoEscapeAwayAndEndsNoFence) {
  for (const char* name : {"\\", "```", "`", "|", "<", "&lt;", "details", "<script>", "\n"}) {
    Report hostile = report();
    hostile.other = OtherSide{};
    hostile.facts.host = "n1";
    hostile.other->facts.host = name;
    hostile.verdict.seen = {"n1: [x](javascript:y) | <script> ` of " + std::string(name)};
    const std::string text = to_markdown(hostile);
    EXPECT_NE(text.find("A: \\[x\\](javascript:y)"), std::string::npos) << name << "\n" << text;
    const std::size_t fence = text.find("\n```\n");
    ASSERT_NE(fence, std::string::npos) << name;
    EXPECT_EQ(text.substr(0, fence).find("<script"), std::string::npos) << name << "\n" << text;
    EXPECT_NE(text.find("\n```\n", fence + 1), std::string::npos) << name;
    EXPECT_TRUE(text.ends_with("\n</details>\n\n")) << name;
  }
}

}  // namespace
}  // namespace gdr::proof
