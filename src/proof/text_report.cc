#include "proof/text_report.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "proof/verdict.h"

namespace gdr::proof {
namespace {

constexpr Nanoseconds kBarInterval = 50 * kMillisecond;
constexpr unsigned kBarWidth = 24;

// Width on the screen: arrows and marks take several bytes each.
std::size_t width(const std::string& text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

std::string pad(std::string text, std::size_t to) {
  const std::size_t now_wide = width(text);
  if (now_wide < to) text.append(to - now_wide, ' ');
  return text;
}

std::string pad_left(const std::string& text, std::size_t to) {
  return std::string(to - std::min(to, width(text)), ' ') + text;
}

std::string volume(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string rate(double bytes_per_second) {
  return fmt::format("{:.1f} GB/s", bytes_per_second / 1e9);
}

std::string rate_of(std::uint64_t bytes, std::uint64_t nanoseconds) {
  if (nanoseconds == 0) return "-";
  return rate(static_cast<double>(bytes) * 1e9 / static_cast<double>(nanoseconds));
}

// How many times as fast the direct way is.
std::string ratio(std::uint64_t staged, std::uint64_t direct) {
  if (direct == 0) return "";
  return fmt::format("({:.2f}x)", static_cast<double>(staged) / static_cast<double>(direct));
}

std::string speed(std::uint32_t megabits) {
  if (megabits == 0) return "";
  if (megabits % 1000 == 0) return fmt::format("{} Gb/s", megabits / 1000);
  return fmt::format("{} Mb/s", megabits);
}

std::string join(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += "  ";
    text += part;
  }
  return text;
}

std::string_view registration_text(Registration registration) {
  return registration == Registration::kDmaBuf ? "dma-buf" : "peer memory";
}

std::string_view allocation_text(MemoryKind kind) {
  return kind == MemoryKind::kDeviceVmm ? "cuMemCreate" : "cuMemAlloc";
}

std::string gpu_line(const GpuEntry& gpu) {
  return join({gpu.survey.pci_address, gpu.survey.name,
               fmt::format("{:.1f} GiB", static_cast<double>(gpu.survey.memory) / (1 << 30)),
               gpu.hardware && gpu.hardware->numa_node >= 0
                   ? fmt::format("NUMA {}", gpu.hardware->numa_node)
                   : "",
               gpu.survey.dma_buf ? "exports dma-buf" : "no dma-buf"});
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
  return join({pci, netdev, mac.empty() ? "" : "MAC " + mac,
               port.gid.empty() ? "" : "GID " + port.gid, port.ethernet ? "Ethernet" : "InfiniBand",
               speed(port.speed), port.active ? "active" : "down", port.problem});
}

}  // namespace

Style Style::of(std::FILE* file) {
  Style style;
  const char* term = getenv("TERM");
  const char* no_colour = getenv("NO_COLOR");
  if (!isatty(fileno(file)) || (term && strcmp(term, "dumb") == 0)) return style;
  style.progress = true;
  style.colours = !(no_colour && *no_colour);
  winsize size{};
  if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.columns = size.ws_col;
  return style;
}

std::string TextReport::paint(Colour colour, const std::string& text) const {
  if (!style_.colours) return text;
  static constexpr const char* kCodes[] = {"32", "31", "33", "1", "2"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<int>(colour)], text);
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

void TextReport::line(const std::string& text) {
  clear_progress();
  fmt::print(file_, "{}\n", text);
  std::fflush(file_);
}

void TextReport::section(const std::string& title) {
  if (section_ == title) return;
  if (!section_.empty()) line("");
  section_ = title;
  line(paint(Colour::kBold, title));
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
  std::string text = fmt::format("  {} {:>3}%  {}", bar, 100 * done / total, what);
  if (width(text) >= style_.columns) text = "  " + bar;
  fmt::print(file_, "\r\x1b[K{}", text);
  std::fflush(file_);
  bar_shown_ = true;
}

void TextReport::on_inventory(const InventoryReport& inventory) {
  section("Inventory");
  const std::string stand_in = "  " + paint(Colour::kYellow, "STAND-IN");
  for (const GpuEntry& gpu : inventory.gpus) {
    line(fmt::format("  {}{}{}", pad(fmt::format("GPU {}", gpu.survey.ordinal), 14), gpu_line(gpu),
                     inventory.soft_gpu ? stand_in : ""));
  }
  for (const NicEntry& nic : inventory.nics) {
    if (!nic.survey.problem.empty()) {
      line(fmt::format("  {}{}", pad("NIC " + nic.survey.name, 14), nic.survey.problem));
    }
    for (const NicPort& port : nic.survey.ports) {
      const std::string name = "NIC " + nic.survey.name +
                               (nic.survey.ports.size() > 1 ? fmt::format(":{}", port.number) : "");
      line(fmt::format("  {}{}{}", pad(name, 14), nic_line(nic, port),
                       inventory.soft_nic ? stand_in : ""));
    }
  }
  if (!inventory.soft_nic && inventory.locked_memory_limit) {
    line("  host          locked-memory limit " + size_text(*inventory.locked_memory_limit));
  }
  for (const std::string& place : inventory.peer_memory) {
    if (!inventory.soft_gpu) line("  peer memory   " + place);
  }
}

void TextReport::on_registration(const RegistrationResult& result) {
  section("Registration of GPU memory");
  line(fmt::format("  {}  {}{}{}", mark(result.ok ? Status::kProved : Status::kNotProved),
                   pad(std::string(registration_text(result.registration)), 13),
                   pad(std::string(allocation_text(result.memory)), 13),
                   result.ok ? fmt::format("{} on {} registered with {}", size_text(result.size),
                                           result.gpu, result.nic)
                             : result.detail));
}

void TextReport::on_check(const Check& check) {
  section("Transfers " + check.from_nic + " → " + check.to_nic + ", " + check.gpu +
          ": every byte, and the guards around it, checked by the memory's owner");
  const std::string head = fmt::format("  {}  {}{}", mark(check.status), pad(check.title, 24),
                                       pad(direction_text(check.direction), 24));
  if (check.status == Status::kProved) {
    const std::string sizes = check.least == check.most
                                  ? size_text(check.least)
                                  : size_text(check.least) + " to " + size_text(check.most);
    line(fmt::format("{}{:>3} transfers  {}{:>10}", head, check.transfers, pad(sizes, 21),
                     volume(check.bytes)));
  } else if (check.status == Status::kFailed && check.transfers > 0) {
    line(fmt::format("{}{:>3} of {} failed; {}: {}", head, check.failed, check.transfers,
                     check.transfer, check.reason));
  } else {
    line(head + check.reason);
  }
}

void TextReport::on_measurement(const Measurement& m) {
  const std::string title =
      "Measured " + m.from_nic + " → " + m.to_nic + ", " + m.gpu +
      ": RC write; staged through host memory, and how many times as fast direct is";
  if (section_ != title) {
    section(title);
    line(paint(Colour::kDim, fmt::format("  {}{:>12}{:>14}{:>14}{:>22}{:>24}", pad("", 14), "8 B",
                                         "one " + size_text(m.size), "4 in flight",
                                         "staged, one by one", "staged, two buffers")));
  }
  if (!m.problem.empty()) {
    line(fmt::format("  {}{}", pad(direction_text(m.direction), 14), m.problem));
    return;
  }
  std::string text = fmt::format(
      "  {}{}{:>14}{:>14}", pad(direction_text(m.direction), 14),
      pad_left(fmt::format("{:.1f} µs", static_cast<double>(m.small_nanoseconds) / 1e3), 12),
      rate_of(m.size, m.direct_nanoseconds), rate(m.bytes_per_second));
  for (std::uint64_t staged : {m.serial_nanoseconds, m.double_nanoseconds}) {
    if (staged == 0) continue;
    text +=
        fmt::format("{:>{}}", rate_of(m.size, staged) + " " + ratio(staged, m.direct_nanoseconds),
                    staged == m.serial_nanoseconds ? 22 : 24);
  }
  line(text);
}

void TextReport::finish(const Report& report) {
  const Verdict& verdict = report.verdict;
  clear_progress();
  if (!section_.empty()) line("");
  const Colour colour = verdict.kind == VerdictKind::kProved             ? Colour::kGreen
                        : verdict.kind == VerdictKind::kProvedOnStandIns ? Colour::kYellow
                                                                         : Colour::kRed;
  line(paint(Colour::kBold, paint(colour, headline(verdict))) +
       paint(Colour::kDim, fmt::format("  in {:.1f} s", report.seconds)));
  if (verdict.kind == VerdictKind::kProvedOnStandIns) {
    std::string parts;
    for (const std::string& part : verdict.replaced) {
      parts += (parts.empty() ? "" : " and ") + part;
    }
    line(fmt::format("  replaced    {}, by gdrkit's software stand-in; nothing is claimed about {}",
                     parts, verdict.replaced.size() > 1 ? "real ones" : "a real one"));
  }
  for (const std::string& text : verdict.not_proved) line("  not proved  " + text);
  std::size_t shown = 0;
  constexpr std::size_t kMost = 6;
  for (const std::string& text : verdict.seen) {
    if (shown++ < kMost) line("  seen        " + text);
  }
  if (shown > kMost) line(fmt::format("              and {} more of this kind", shown - kMost));
  int number = 0;
  for (const std::string& text : verdict.causes) {
    line(fmt::format("  {}{}. {}", pad(number == 0 ? "causes" : "", 12), number + 1, text));
    ++number;
  }
  if (!verdict.next.empty()) line("  next        " + verdict.next);
}

}  // namespace gdr::proof
