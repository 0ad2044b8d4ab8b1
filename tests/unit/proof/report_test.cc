#include <gtest/gtest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>

#include "base/environment.h"
#include "proof/json_report.h"
#include "proof/report_page.h"
#include "proof/text_report.h"
#include "proof/verdict.h"
#include "text/wrap.h"

namespace gdr::proof {
namespace {

using text::Style;

Report report() {
  Report result;
  result.inventory.soft_nic = result.inventory.soft_gpu = true;
  GpuEntry gpu;
  gpu.survey = {0, "software ? GPU", "fffe:01:00.0", "GPU-0", 8ull << 30, true, true};
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
  Measurement control;
  control.size = 8 << 20;
  control.direct_nanoseconds = 1'000'000;
  control.direction = {MemoryKind::kHost, MemoryKind::kHost};
  control.gpu = "GPU 0";
  result.measurements.push_back(control);
  Measurement measurement;
  measurement.gpu = "GPU 0";
  measurement.in_flight = 4;
  measurement.bytes_per_second = 12.5e9;
  measurement.size = 8 << 20;
  measurement.direct_nanoseconds = 1'000'000;
  measurement.serial_nanoseconds = 2'500'000;
  measurement.double_nanoseconds = 1'500'000;
  measurement.small_nanoseconds = 1500;
  result.measurements.push_back(measurement);
  result.verdict = decide({}, result);
  return result;
}

using Detail = TextReport::Detail;

// The text as it goes to a terminal of this style, all of it.
std::string text_of(const Report& result, Style style, Detail detail = Detail::kFull) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&buffer, &size);
  TextReport text(file, style, detail);
  text.on_facts(result.facts);
  text.on_inventory(result.inventory);
  for (const auto& pair : result.participants) text.on_pair(pair);
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
  EXPECT_EQ(json["verdict"], "SIMULATION PASSED");
  EXPECT_EQ(json["exit_status"], 0);
  EXPECT_EQ(json["stand_ins"], (std::vector<std::string>{"RDMA NIC", "GPU"}));
  EXPECT_EQ(json["inventory"]["gpus"][0]["stand_in"], true);
  EXPECT_EQ(json["checks"][0]["mode"], "write");
  EXPECT_EQ(json["checks"][0]["status"], "proved");
  EXPECT_EQ(json["inventory"]["gpus"][0]["uuid"], "GPU-0");
}

// With a second GPU at the end that starts the transfers: a write and a read between the two.
Report report_of_two_gpus() {
  Report result = report();
  GpuEntry second = result.inventory.gpus[0];
  second.survey.ordinal = 1;
  second.survey.name = "the other GPU";
  second.survey.pci_address = "fffe:02:00.0";
  result.inventory.gpus.push_back(second);
  result.participants.push_back({"soft0", "soft1", "fffe:02:00.0", "fffe:01:00.0", "", ""});
  Check write = result.checks[0];
  write.from_gpu = "GPU 1";
  write.direction = {MemoryKind::kDevice, MemoryKind::kDeviceVmm};
  Check read = write;
  read.title = "RC read";
  read.fetched = true;
  Check send = write;
  send.title = "RC send";
  send.direction = {MemoryKind::kDevice, MemoryKind::kHost};
  result.checks = {write, read, send};
  for (Measurement& measurement : result.measurements) {
    static_cast<Path&>(measurement) = write;
    measurement.direction.to = MemoryKind::kDevice;
  }
  result.verdict = decide({}, result);
  return result;
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

// The longest line of `text`.
std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (std::string_view line : split(text, '\n')) most = std::max(most, text::screen_width(line));
  return most;
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

// Two modes in two directions each, on hardware.
Report report_of_hardware() {
  Report result = report();
  result.facts = {"node7", "2026-11-26 10:12 UTC", "9.8.7", "6.8.0-45-generic", "570.86.15 (open)"};
  result.inventory.soft_nic = result.inventory.soft_gpu = false;
  host::Nic hardware;
  hardware.pci_address = "0000:45:00.0";
  hardware.firmware = "28.39.1002";
  result.inventory.nics[0].hardware = hardware;
  NicEntry idle = result.inventory.nics[0];
  idle.survey.name = "idle0";
  result.inventory.nics.push_back(idle);
  result.participants.push_back({"soft0", "soft0", "fffe:01:00.0", "fffe:01:00.0", "", "PIX"});
  Check back = result.checks[0];
  back.direction = {MemoryKind::kDevice, MemoryKind::kHost};
  back.most = 64 << 20;
  Check read = result.checks[0];
  read.title = "RC read";
  Check read_back = back;
  read_back.title = "RC read";
  result.checks = {result.checks[0], back, read, read_back};
  result.verdict = decide({}, result);
  return result;
}

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
  const auto json = nlohmann::json::parse(to_json(report_of_hardware()));
  EXPECT_EQ(json["tool"], "gdr prove");
  EXPECT_EQ(json["version"], "9.8.7");
  EXPECT_EQ(json["host"], "node7");
  EXPECT_EQ(json["date"], "2026-11-26 10:12 UTC");
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
