#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proof/json_report.h"
#include "proof/report_page.h"
#include "reports.h"

namespace gdr::proof {
namespace {

TEST(BriefReport, SaysFirstWhereWhenAndWithWhatItRan) {
  const std::string text = text_of(report_of_hardware(), Style{}, Detail::kBrief);
  EXPECT_TRUE(
      text.starts_with("gdrkit 9.8.7 on node7, 2026-11-26 10:12 UTC; Linux "
                       "6.8.0-45-generic; NVIDIA driver 570.86.15 (open)\n"))
      << text;
  EXPECT_NE(text.find("  NIC soft0     0000:45:00.0  100 Gb/s Ethernet  active  firmware "
                      "28.39.1002\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  PCIe path     fffe:01:00.0 to soft0: PIX\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("idle0"), std::string::npos) << "a NIC that takes no part";
}

TEST(BriefReport, HasALineForEachModeWithItsSmallestAndLargestSize) {
  const std::string text = text_of(report_of_hardware(), Style{}, Detail::kBrief);
  for (const char* mode : {"RC write", "RC read "}) {
    EXPECT_NE(text.find(std::string("  ok      ") + mode +
                        "            38 transfers in 2 directions  1 B to 64 MiB\n"),
              std::string::npos)
        << text;
  }
  EXPECT_NE(text.find("  registered    GPU 0 with soft0 by dma-buf (cuMemAlloc)\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.find("\nPROVED  in") != std::string::npos) << text;
}

TEST(BriefReport, HasEveryDirectionOfAModeOfWhichOneFailed) {
  Report failed = report_of_hardware();
  failed.checks[1].status = Status::kFailed;
  failed.checks[1].failed = 2;
  failed.checks[1].transfer = "65 B at offset 3";
  failed.checks[1].reason = "the data is displaced by +65536 bytes";
  failed.verdict = decide({}, failed);
  const std::string text = text_of(failed, Style{}, Detail::kBrief);
  EXPECT_NE(text.find("  ok      RC write           host → GPU"), std::string::npos) << text;
  EXPECT_NE(text.find("  FAILED  RC write           GPU → host        2 of 19 failed; 65 B"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  ok      RC read             38 transfers in 2"), std::string::npos)
      << text;
}

TEST(BriefReport, SaysOnceWhyAModeIsNotProvedInAnyDirection) {
  Report result = report_of_hardware();
  for (Check& check : result.checks) {
    if (check.title != "RC read") continue;
    check.status = Status::kNotProved;
    check.reason = "the NIC offers none";
  }
  const std::string text = text_of(result, Style{}, Detail::kBrief);
  EXPECT_NE(text.find("  -       RC read            the NIC offers none\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("the NIC offers none"), text.rfind("  the NIC offers none") + 2) << text;
}

TEST(BriefReport, NamesEachRegistrationThatWasRefusedAndItsKindsOfMemoryTogether) {
  Report result = report_of_hardware();
  RegistrationResult refused = result.registrations[0];
  refused.ok = false;
  refused.registration = Registration::kPeerMemory;
  refused.detail = "errno 14";
  result.registrations.push_back(refused);
  refused.memory = MemoryKind::kDeviceVmm;
  result.registrations.push_back(refused);
  const std::string text = text_of(result, Style{}, Detail::kBrief);
  EXPECT_NE(text.find("  -       peer memory  cuMemAlloc, cuMemCreate  errno 14\n"),
            std::string::npos)
      << text;
}

TEST(BriefReport, OfAProofThatNeverBeganHasTheWholeInventory) {
  Report nothing;
  nothing.inventory.verbs_problem = "cannot load libibverbs.so.1";
  nothing.verdict = decide({}, nothing);
  const std::string text = text_of(nothing, Style{}, Detail::kBrief);
  EXPECT_NE(text.find("NIC           none found: cannot load libibverbs.so.1\n"), std::string::npos)
      << text;
}

TEST(BriefReport, FitsATerminalOfEightyColumns) {
  Style style;
  style.columns = 80;
  for (const Report& each : {report_of_hardware(), report(), report_of_two_gpus()}) {
    const std::string text = text_of(each, style, Detail::kBrief);
    EXPECT_LE(widest(text), 80u) << text;
  }
}

TEST(Interruption, IsItsOwnVerdictThatPraisesNothing) {
  Report result = report_of_hardware();
  result.interrupted = true;
  result.checks[3].status = Status::kNotProved;
  result.checks[3].reason = "interrupted after 3 of 19 transfers";
  result.verdict = decide({}, result);
  EXPECT_EQ(result.verdict.exit_status(), kInPart);
  const auto json = nlohmann::json::parse(to_json(result));
  EXPECT_EQ(json["verdict"], "INTERRUPTED");
  EXPECT_EQ(json["interrupted"], true);
  const std::string text = text_of(result, Style{}, Detail::kBrief);
  EXPECT_NE(text.find("\nINTERRUPTED: nothing failed until then, and nothing is proved"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("seen        3 checks were right until it was interrupted"),
            std::string::npos)
      << text;
}

TEST(Interruption, LeavesAFailureAFailure) {
  Report result = report_of_hardware();
  result.interrupted = true;
  result.checks[0].status = Status::kFailed;
  result.verdict = decide({}, result);
  EXPECT_EQ(result.verdict.kind, VerdictKind::kFailed);
}

TEST(JsonReport, SaysWhereWhenAndWithWhatItRan) {
  const auto json = nlohmann::json::parse(
      to_json(report_of_hardware(), {"9.8.7", "7a19af9", "node7", "2026-11-26T10:12:03Z"}));
  EXPECT_EQ(json["tool"], "gdr prove");
  EXPECT_EQ(json["version"], "9.8.7");
  EXPECT_EQ(json["host"], "node7");
  EXPECT_EQ(json["date"], "2026-11-26T10:12:03Z");
  EXPECT_EQ(json["kernel"], "6.8.0-45-generic");
  EXPECT_EQ(json["gpu_driver"], "570.86.15 (open)");
  EXPECT_EQ(json["participants"][0]["grade"], "PIX");
  EXPECT_TRUE(json["participants"][0]["from_grade"].is_null());
}

TEST(ReportPage, HasVerdictFactsAndAllTransfers) {
  const std::string page = to_html(report_of_hardware());
  for (const char* part :
       {"<h1 class=\"ok\">PROVED</h1>", "<td>node7</td>", "<td>6.8.0-45-generic</td>",
        "<td>RC write</td><td>2 directions</td><td class=\"ok\">ok</td><td>38 transfers, 1 B to 64 "
        "MiB</td>",
        "default-src 'none'", "idle0"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST(ReportPage, OfAFailureNamesWhatWasSimulated) {
  Report result = report();
  result.checks[0].status = Status::kFailed;
  result.verdict = decide({}, result);
  EXPECT_NE(to_html(result).find("<th scope=\"row\">simulated</th><td>RDMA NIC and GPU</td>"),
            std::string::npos);
  EXPECT_NE(to_markdown(result).find("| simulated | RDMA NIC and GPU |"), std::string::npos);
  EXPECT_EQ(to_html(report_of_hardware()).find("simulated"), std::string::npos);
}

TEST(ReportPage, ShowsNamesOfDevicesAsText) {
  Report result = report_of_hardware();
  result.inventory.gpus[0].survey.name = "<script>alert(1)</script>";
  result.verdict = decide({}, result);
  EXPECT_EQ(to_html(result).find("<script>"), std::string::npos);
  EXPECT_EQ(to_markdown(result).find("| on | GPU 0 (fffe:01:00.0, <script>"), std::string::npos);
}

TEST(ReportPage, AsMarkdownNamesNeitherHostNorAddresses) {
  Report result = report_of_hardware();
  result.inventory.nics[0].survey.ports[0].gid = "fe80::ba59:9fff:fe01:203";
  const std::string text = to_markdown(result);
  EXPECT_TRUE(text.starts_with("### gdr prove: PROVED\n")) << text;
  for (const char* secret : {"node7", "02:00:00:00:00:01", "fe80::ba59"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
  EXPECT_NE(text.find("6.8.0-45-generic"), std::string::npos);
}

}  // namespace
}  // namespace gdr::proof
