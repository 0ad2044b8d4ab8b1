#include "proof/text_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "proof/verdict.h"
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
constexpr std::size_t kUsualColumns = 80;
// Indents of the text about a device, a check and a verdict.
constexpr std::size_t kDeviceIndent = 16, kCheckIndent = 10, kVerdictIndent = 14;

// Short: three digits, at most one decimal.
std::string brief(double value) { return fmt::format("{:.{}f}", value, value < 100 ? 1 : 0); }

std::string rate(double bytes_per_second) { return brief(bytes_per_second / 1e9) + " GB/s"; }

std::string rate_of(std::uint64_t bytes, std::uint64_t nanoseconds) {
  if (nanoseconds == 0) return "-";
  return rate(static_cast<double>(bytes) * 1e9 / static_cast<double>(nanoseconds));
}

// The staged rate, and how many times faster direct is.
std::string staged_text(std::uint64_t bytes, std::uint64_t staged, std::uint64_t direct) {
  if (staged == 0 || direct == 0) return "";
  return rate_of(bytes, staged) + ", " +
         brief(static_cast<double>(staged) / static_cast<double>(direct)) + "x";
}

std::string speed(std::uint32_t megabits) {
  if (megabits == 0) return "";
  if (megabits % 1000 == 0) return fmt::format("{} Gb/s", megabits / 1000);
  return fmt::format("{} Mb/s", megabits);
}

std::string_view registration_text(Registration registration) {
  return registration == Registration::kDmaBuf ? "dma-buf" : "peer memory";
}

std::string registered_text(const RegistrationResult& result) {
  std::string text =
      fmt::format("{} on {} registered with {}", size_text(result.size), result.gpu, result.nic);
  if (!result.modules.empty()) text += " by " + modules_text(result);
  return text;
}

std::string because(const std::string& problem) { return problem.empty() ? "" : ": " + problem; }

std::string gpu_line(const GpuEntry& gpu) {
  return text::join({gpu.survey.pci_address, gpu.survey.name, text::size_text(gpu.survey.memory),
                     gpu.hardware && gpu.hardware->numa_node >= 0
                         ? fmt::format("NUMA {}", gpu.hardware->numa_node)
                         : "",
                     gpu.survey.dma_buf ? "exports dma-buf" : "no dma-buf", gpu.survey.uuid});
}

std::string nic_line(const NicEntry& nic, const NicPort& port) {
  std::string pci, netdev, mac = port.mac;
  if (nic.hardware) {
    pci = nic.hardware->pci_address;
    for (const host::Port& known : nic.hardware->ports) {
      if (known.number != port.number) continue;
      netdev = known.netdev;
      if (!known.mac.empty()) mac = known.mac;
    }
  }
  return text::join({pci, netdev, mac.empty() ? "" : "MAC " + mac,
                     port.gid.empty() ? "" : "GID " + port.gid,
                     port.ethernet ? "Ethernet" : "InfiniBand", speed(port.speed),
                     port.active ? "active" : "down", port.problem});
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
  clear_progress();
  fmt::print(file_, "{}\n", text::wrap(text, style_.columns, indent));
  std::fflush(file_);
}

void TextReport::section(const std::string& title) {
  if (section_ == title) return;
  if (!section_.empty()) line("");
  section_ = title;
  line(paint(Colour::kBold, printable(title)), 2);
}

void TextReport::clear_progress() {
  if (!bar_shown_) return;
  fmt::print(file_, "\r\x1b[K");
  bar_shown_ = false;
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
  const std::size_t columns = style_.columns > 0 ? style_.columns : kUsualColumns;
  if (text::screen_width(text) >= columns) text = "  " + bar;
  fmt::print(file_, "\r\x1b[K{}", text);
  std::fflush(file_);
  bar_shown_ = true;
}

void TextReport::on_inventory(const InventoryReport& inventory) {
  soft_nic_ = inventory.soft_nic;
  section("Inventory");
  const auto entry = [&](const std::string& name, const std::string& text, bool stand_in = false) {
    line(fmt::format("  {}{}{}", pad(printable(name), kDeviceIndent - 2), printable(text),
                     stand_in ? "  " + paint(Colour::kYellow, "STAND-IN") : ""),
         kDeviceIndent);
  };
  if (inventory.host_memory_only) {
    entry("GPU", "skipped (--memory host)");
  } else if (inventory.gpus.empty()) {
    entry("GPU", "none found" + because(inventory.cuda_problem));
  }
  for (const GpuEntry& gpu : inventory.gpus) {
    entry(fmt::format("GPU {}", gpu.survey.ordinal), gpu_line(gpu), inventory.soft_gpu);
  }
  if (inventory.nics.empty()) entry("NIC", "none found" + because(inventory.verbs_problem));
  for (const NicEntry& nic : inventory.nics) {
    if (!nic.survey.problem.empty()) entry("NIC " + nic.survey.name, nic.survey.problem);
    for (const NicPort& port : nic.survey.ports) {
      const std::string name = "NIC " + nic.survey.name +
                               (nic.survey.ports.size() > 1 ? fmt::format(":{}", port.number) : "");
      entry(name, nic_line(nic, port), inventory.soft_nic);
    }
  }
  if (!inventory.soft_nic && inventory.locked_memory_limit) {
    entry("host", "locked-memory limit " + text::size_text(*inventory.locked_memory_limit));
  }
  for (const std::string& place : inventory.peer_memory) {
    if (!inventory.soft_gpu && !inventory.host_memory_only) entry("peer memory", place);
  }
}

void TextReport::on_registration(const RegistrationResult& result) {
  section("Registration of GPU memory");
  line(fmt::format("  {}  {}{}{}", mark(result.ok ? Status::kProved : Status::kNotProved),
                   pad(std::string(registration_text(result.registration)), 13),
                   pad(std::string(allocation_text(result.memory)), 13),
                   printable(result.ok ? registered_text(result) : result.detail)),
       kCheckIndent);
}

void TextReport::on_check(const Check& check) {
  section("Transfers " + path_text(check) + ": every byte and its guards are checked");
  const std::string head =
      fmt::format("  {}  {}{}", mark(check.status), pad(check.title + "  ", 19),
                  pad(printable(direction_text(check)), check.has_two_gpus() ? 22 : 18));
  std::string evidence = check.reason;
  if (check.status == Status::kProved) {
    const std::string sizes = check.least == check.most
                                  ? size_text(check.least)
                                  : size_text(check.least) + " to " + size_text(check.most);
    evidence = pad_left(plural(check.transfers, "transfer"), 12) + "  " + sizes;
  } else if (check.status == Status::kFailed && check.transfers > 0) {
    evidence = fmt::format("{} of {} failed; {}: {}", check.failed, check.transfers, check.transfer,
                           check.reason);
  }
  line(head + printable(evidence), kCheckIndent);
}

void TextReport::on_measurement(const Measurement& m) {
  std::string title = "Speed of RC write, " + path_text(m);
  const bool stages = !m.gpu.empty();  // staging needs a GPU
  if (stages) title += ": direct vs. staged through host memory (3.0x: direct is 3 times faster)";
  // Two GPUs have longer names; the line must fit into 80 columns.
  const bool two = m.has_two_gpus();
  const std::size_t lead = two ? 13 : 11, small_wide = two ? 8 : 9, large_wide = two ? 10 : 11;
  if (section_ != title) {
    section(title);
    if (soft_nic_) {
      line("  Simulated NIC: these numbers measure memory copies; ignore factors below 1.", 2);
    }
    line(paint(Colour::kDim, "  " + pad("", lead) +
                                 fmt::format("{:>{}}{:>{}}{:>13}{:>17}{:>17}", "8 B", small_wide,
                                             size_text(m.size), large_wide,
                                             fmt::format("{} in flight", m.in_flight),
                                             stages ? "staged" : "", stages ? "two buffers" : "")),
         kCheckIndent);
  }
  const std::string head = "  " + pad(printable(direction_text(m)), lead);
  if (!m.problem.empty()) return line(head + "  " + printable(m.problem), kCheckIndent);
  const std::string small = brief(static_cast<double>(m.small_nanoseconds) / 1e3) + " µs";
  std::string text = head + pad_left(small, small_wide) +
                     fmt::format("{:>{}}{:>13}", rate_of(m.size, m.direct_nanoseconds), large_wide,
                                 rate(m.bytes_per_second));
  for (std::uint64_t staged : {m.serial_nanoseconds, m.double_nanoseconds}) {
    if (staged > 0) text += pad_left(staged_text(m.size, staged, m.direct_nanoseconds), 17);
  }
  line(text, kCheckIndent);
}

void TextReport::finish(const Report& report) {
  const Verdict& verdict = report.verdict;
  clear_progress();
  if (!section_.empty()) line("");
  const Colour colour = verdict.kind == VerdictKind::kProved   ? Colour::kGreen
                        : verdict.kind == VerdictKind::kFailed ? Colour::kRed
                                                               : Colour::kYellow;
  line(paint(Colour::kBold, paint(colour, headline(verdict))) +
       paint(Colour::kDim, fmt::format("  in {:.1f} s", report.seconds)));
  const auto entry = [&](const char* name, const std::string& text) {
    line("  " + pad(name, kVerdictIndent - 2) + printable(text), kVerdictIndent);
  };
  const auto entries = [&](const std::vector<std::string>& texts, const char* name) {
    constexpr std::size_t kMost = 6;
    for (std::size_t i = 0; i < std::min(texts.size(), kMost); ++i) entry(name, texts[i]);
    if (texts.size() > kMost) {
      entry("", fmt::format("and {} more", texts.size() - kMost));
    }
  };
  entries(verdict.on, "on");
  entries(verdict.ways, "way");
  if (!verdict.replaced.empty()) {
    if (!verdict.real.empty()) entry("real", fmt::format("{}", fmt::join(verdict.real, " and ")));
    const bool several = verdict.replaced.size() > 1;
    entry("replaced",
          fmt::format("{} by gdrkit's software; this says nothing about {}",
                      fmt::join(verdict.replaced, " and "), several ? "real ones" : "a real one"));
  }
  for (const std::string& text : verdict.not_proved) entry("not proved", text);
  entries(verdict.seen, "seen");
  for (std::size_t i = 0; i < verdict.causes.size(); ++i) {
    const std::string head = "  " + pad(i == 0 ? "causes" : "", kVerdictIndent - 2);
    line(fmt::format("{}{}. {}", head, i + 1, printable(verdict.causes[i])), kVerdictIndent + 3);
  }
  if (!verdict.next.empty()) entry("next", verdict.next);
}

}  // namespace gdr::proof
