#include "proof/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "proof/device_lines.h"
#include "proof/speed_rows.h"
#include "proof/verdict.h"
#include "proof/verdict_lines.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::proof {
namespace {

using text::Colour;
using text::pad;
using text::pad_left;
using text::plural;

constexpr Nanoseconds kBarInterval = 50 * kMillisecond;
constexpr unsigned kBarWidth = 24;
// Indents of the text about a device, a check and a verdict.
constexpr std::size_t kDeviceIndent = 16, kCheckIndent = 10, kVerdictIndent = 14;
constexpr std::size_t kTitleWide = 19, kTransfersWide = 12;

std::string registered_text(const RegistrationResult& result) {
  std::string text = fmt::format("{} on {} registered with {}", size_text(result.size), result.gpu,
                                 of_host(result.nic, result.host));
  if (!result.modules.empty()) text += " by " + modules_text(result);
  return text;
}

std::string transfers_title(const Path& path) {
  return "Transfers " + path_text(path) + ": every byte and its guards are checked";
}

std::string because(const std::string& problem) { return problem.empty() ? "" : ": " + problem; }

std::string port_name(const NicEntry& nic, const NicPort& port) {
  return nic.survey.name +
         (nic.survey.ports.size() > 1 ? fmt::format(":{}", port.number) : std::string());
}

}  // namespace

std::string TextReport::paint(Colour colour, const std::string& text) const {
  return text::paint(style_, colour, text);
}

std::string TextReport::mark(Status status) const {
  switch (status) {
    case Status::kProved:
      return paint(Colour::kGreen, "ok    ");
    case Status::kFailed:
      return paint(Colour::kRed, "FAILED");
    case Status::kNotProved:
      break;
  }
  return paint(Colour::kYellow, "-     ");
}

void TextReport::line(const std::string& text, std::size_t indent) {
  bar_.clear();
  fmt::print(file_, "{}\n", text::wrap(text, style_.columns, indent));
  std::fflush(file_);
}

void TextReport::section(const std::string& title) {
  if (section_ == title) return;
  if (!section_.empty()) line("");
  section_ = title;
  line(paint(Colour::kBold, printable(title)), 2);
}

void TextReport::on_progress(const std::string& what, std::uint64_t done, std::uint64_t total) {
  if (!style_.progress || total == 0) return;
  const Nanoseconds time = now();
  if (time - bar_time_ < kBarInterval) return;
  bar_time_ = time;
  const std::uint64_t filled = kBarWidth * done / total;
  std::string bar;
  for (unsigned i = 0; i < kBarWidth; ++i) bar += i < filled ? "━" : "╌";
  std::string text = fmt::format("  {} {:>3}%  {}", bar, 100 * done / total, printable(what));
  if (text::screen_width(text) >= bar_.columns()) text = "  " + bar;
  bar_.show(text);
}

void TextReport::on_facts(const RunFacts& facts) { section(head_line(facts)); }

void TextReport::device(const std::string& name, const std::string& text, bool stand_in) {
  line(fmt::format("  {}{}{}", pad(printable(name), kDeviceIndent - 2), printable(text),
                   stand_in ? "  " + paint(Colour::kYellow, "STAND-IN") : ""),
       kDeviceIndent);
}

void TextReport::on_inventory(const InventoryReport& inventory) {
  inventory_ = inventory;
  inventory_is_owed_ = brief_;
  if (!brief_) show_inventory(inventory);
}

void TextReport::show_inventory(const InventoryReport& inventory) {
  section("Inventory");
  show_devices(inventory);
  if (!other_) return;
  section(head_line(other_->facts));
  show_devices(other_->inventory);
}

void TextReport::show_devices(const InventoryReport& inventory) {
  if (inventory.host_memory_only) {
    device("GPU", "skipped (--memory host)");
  } else if (inventory.gpus.empty()) {
    device("GPU", "none found" + because(inventory.cuda_problem));
  }
  for (const GpuEntry& gpu : inventory.gpus) {
    device(fmt::format("GPU {}", gpu.survey.ordinal), gpu_line(gpu), inventory.soft_gpu);
  }
  if (inventory.nics.empty()) device("NIC", "none found" + because(inventory.verbs_problem));
  for (const NicEntry& nic : inventory.nics) {
    if (!nic.survey.problem.empty()) device("NIC " + nic.survey.name, nic.survey.problem);
    for (const NicPort& port : nic.survey.ports) {
      device("NIC " + port_name(nic, port), nic_line(nic, port), inventory.soft_nic);
    }
  }
  if (!inventory.soft_nic && inventory.locked_memory_limit) {
    device("host", "locked-memory limit " + text::size_text(*inventory.locked_memory_limit));
  }
  for (const std::string& place : inventory.peer_memory) {
    if (!inventory.soft_gpu && !inventory.host_memory_only) device("peer memory", place);
  }
}

void TextReport::on_other_side(const OtherSide& other) {
  other_ = other;
  if (brief_) return;
  section(head_line(other.facts));
  show_devices(other.inventory);
}

void TextReport::show_gpu(const InventoryReport& inventory, const std::string& address) {
  const GpuEntry* const gpu = gpu_at(inventory, address);
  if (gpu == nullptr || !shown_devices_.insert(section_ + address).second) return;
  device(fmt::format("GPU {}", gpu->survey.ordinal), brief_gpu_line(*gpu), inventory.soft_gpu);
}

void TextReport::show_port(const InventoryReport& inventory, const std::string& name) {
  for (const NicEntry& nic : inventory.nics) {
    for (const NicPort& port : nic.survey.ports) {
      const participants::PortChoice choice{nic.survey.name, port.number, port.ethernet};
      if (name != choice.text() || !shown_devices_.insert(section_ + " NIC " + name).second) {
        continue;
      }
      device("NIC " + name, brief_nic_line(nic, port), inventory.soft_nic);
    }
  }
}

void TextReport::show_grade(const std::string& gpu, const std::string& nic,
                            const std::string& grade) {
  if (!grade.empty()) device("PCIe path", fmt::format("{} to {}: {}", gpu, nic, grade));
}

void TextReport::on_pair(const Participants& pair) {
  if (!brief_) return;
  flush_mode();
  inventory_is_owed_ = false;
  if (pair.gpu.empty()) device("GPU", "skipped (--memory host)");
  if (other_) {
    show_gpu(inventory_, pair.from_gpu);
    show_port(inventory_, pair.from_nic);
    show_grade(pair.from_gpu, pair.from_nic, pair.from_grade);
    section(head_line(other_->facts));
    show_gpu(other_->inventory, pair.gpu);
    show_port(other_->inventory, pair.to_nic);
    show_grade(pair.gpu, pair.to_nic, pair.grade);
    return;
  }
  for (const std::string& address : {pair.gpu, pair.from_gpu}) show_gpu(inventory_, address);
  for (const std::string& name : {pair.from_nic, pair.to_nic}) show_port(inventory_, name);
  if (pair.from_gpu != pair.gpu) show_grade(pair.from_gpu, pair.from_nic, pair.from_grade);
  show_grade(pair.gpu, pair.to_nic, pair.grade);
}

void TextReport::show_registration(Status status, Registration registration,
                                   const std::string& memory, const std::string& text) {
  line(fmt::format("  {}  {}{}{}", mark(status),
                   pad(std::string(registration_text(registration)), 13), pad(memory + "  ", 13),
                   printable(text)),
       kCheckIndent);
}

void TextReport::on_registration(const RegistrationResult& result) {
  if (brief_) {
    registrations_.push_back(result);
    return;
  }
  section("Registration of GPU memory");
  show_registration(result.ok ? Status::kProved : Status::kNotProved, result.registration,
                    std::string(allocation_text(result.memory)),
                    result.ok ? registered_text(result) : result.detail);
}

void TextReport::flush_registrations() {
  for (const std::string& text : accepted_lines(registrations_)) device("registered", text);
  for (const RefusedLine& refused : refused_lines(registrations_)) {
    show_registration(Status::kNotProved, refused.registration, refused.memory, refused.detail);
  }
  registrations_.clear();
}

void TextReport::show_check(const Check& check) {
  const std::string head =
      fmt::format("  {}  {}{}", mark(check.status), pad(check.title + "  ", kTitleWide),
                  pad(printable(direction_text(check)), check.names_gpus() ? 22 : 18));
  std::string evidence = check.reason;
  if (check.status == Status::kProved) {
    evidence = pad_left(plural(check.transfers, "transfer"), kTransfersWide) + "  " +
               sizes_text(check.least, check.most);
  } else if (check.status == Status::kFailed && check.transfers > 0) {
    evidence = failure_text(check);
  }
  line(head + printable(evidence), kCheckIndent);
}

void TextReport::show_mode(const ModeSummary& mode) {
  const Check& first = mode.checks().front();
  section(transfers_title(first));
  if (!mode.is_uniform()) {
    for (const Check& check : mode.checks()) show_check(check);
    return;
  }
  std::string evidence = first.reason;
  if (first.status == Status::kProved) {
    evidence = pad_left(plural(mode.transfers(), "transfer"), kTransfersWide + 1) + " in " +
               pad(plural(mode.checks().size(), "direction"), kTransfersWide + 2) +
               sizes_text(mode.least(), mode.most());
  }
  line(fmt::format("  {}  {}{}", mark(first.status), pad(first.title + "  ", kTitleWide),
                   printable(evidence)),
       kCheckIndent);
}

void TextReport::flush_mode() {
  flush_registrations();
  if (!mode_.empty()) show_mode(mode_);
  mode_ = {};
}

void TextReport::on_check(const Check& check) {
  if (brief_) {
    if (!mode_.takes(check) || mode_.empty()) flush_mode();
    mode_.add(check);
    return;
  }
  section(transfers_title(check));
  show_check(check);
}

void TextReport::on_measurement(const Measurement& measurement) {
  if (brief_) flush_mode();
  // The control tells of the host's memory; the brief report has it where there is nothing else.
  const bool control =
      !is_device(measurement.direction.from) && !is_device(measurement.direction.to);
  if (brief_ && control && !measurement.gpu.empty() && measurement.problem.empty()) return;
  const std::string title = speed_title(measurement, brief_, is_soft_nic());
  if (section_ != title) {
    section(title);
    if (is_soft_nic() && !brief_) {
      line("  Simulated NIC: these numbers measure memory copies; ignore factors below 1.", 2);
    }
    line(paint(Colour::kDim, speed_columns(measurement)), kCheckIndent);
  }
  line(speed_row(measurement), kCheckIndent);
}

void TextReport::finish(const Report& report) {
  if (brief_) {
    if (inventory_is_owed_) show_inventory(inventory_);
    flush_mode();
  }
  bar_.clear();
  if (!section_.empty()) line("");
  show_verdict(report.verdict, report.seconds);
}

void TextReport::show_verdict(const Verdict& verdict, double seconds) {
  const Colour colour = verdict.kind == VerdictKind::kProved   ? Colour::kGreen
                        : verdict.kind == VerdictKind::kFailed ? Colour::kRed
                                                               : Colour::kYellow;
  line(paint(Colour::kBold, paint(colour, printable(headline(verdict)))) +
       paint(Colour::kDim, fmt::format("  in {:.1f} s", seconds)));
  for (const VerdictLine& each : lines_of(verdict)) {
    line("  " + pad(each.name, kVerdictIndent - 2) + printable(each.text),
         kVerdictIndent + each.more_indent);
  }
}

std::string text_of(const Report& report, TextReport::Detail detail) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* const file = open_memstream(&buffer, &size);
  if (file == nullptr) return {};
  TextReport text(file, text::Style(), detail);
  tell(report, text);
  text.finish(report);
  std::fclose(file);
  std::string written(buffer, size);
  std::free(buffer);
  return written;
}

}  // namespace gdr::proof
