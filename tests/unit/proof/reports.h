// Reports of made-up machines, and what they look like as text.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <string>

#include "base/environment.h"
#include "proof/text_report.h"
#include "proof/verdict.h"
#include "text/wrap.h"

namespace gdr::proof {

using text::Style;

// A write that was proved, and two measurements, all on stand-ins.
inline Report report() {
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
inline std::string text_of(const Report& result, Style style, Detail detail = Detail::kFull) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&buffer, &size);
  TextReport text(file, style, detail);
  text.on_progress("RC write", 1, 4);
  tell(result, text);
  text.finish(result);
  std::fclose(file);
  std::string written(buffer, size);
  free(buffer);
  return written;
}

// The same with a second GPU at the end that starts the transfers: a write and a read between the
// two.
inline Report report_of_two_gpus() {
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

// Two modes in two directions each, on hardware.
inline Report report_of_hardware() {
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

// The longest line of `text`.
inline std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (std::string_view line : split(text, '\n')) most = std::max(most, text::screen_width(line));
  return most;
}

}  // namespace gdr::proof
