#include "proof/speed_rows.h"

#include <fmt/format.h>

#include "text/format.h"

namespace gdr::proof {
namespace {

using text::pad;
using text::pad_left;

constexpr std::size_t kInFlightWide = 13, kStagedWide = 17;

// Two GPUs of one host have longer names; the line must fit into 80 columns.
struct Widths {
  explicit Widths(const Measurement& m)
      : lead(m.names_gpus() ? 13 : 11),
        small(m.names_gpus() ? 8 : 9),
        large(m.names_gpus() ? 10 : 11) {}
  std::size_t lead, small, large;
};

bool has_staging(const Measurement& m) { return !m.gpu.empty(); }  // staging needs a GPU

// Short: three digits, at most one decimal.
std::string brief_number(double value) {
  return fmt::format("{:.{}f}", value, value < 100 ? 1 : 0);
}

std::string rate(double bytes_per_second) { return brief_number(bytes_per_second / 1e9) + " GB/s"; }

std::string rate_of(std::uint64_t bytes, std::uint64_t nanoseconds) {
  if (nanoseconds == 0) return "-";
  return rate(static_cast<double>(bytes) * 1e9 / static_cast<double>(nanoseconds));
}

// The staged rate, and how many times faster direct is.
std::string staged_text(std::uint64_t bytes, std::uint64_t staged, std::uint64_t direct) {
  if (staged == 0 || direct == 0) return "";
  return rate_of(bytes, staged) + ", " +
         brief_number(static_cast<double>(staged) / static_cast<double>(direct)) + "x";
}

}  // namespace

std::string speed_title(const Measurement& m, bool brief, bool soft_nic) {
  std::string title = "Speed of RC write, " + path_text(m);
  if (brief && soft_nic) return title + ": of memory copies, no NIC's";
  if (!has_staging(m)) return title;
  if (brief) return title + " (3.0x: 3 times staged)";
  return title + ": direct vs. staged through host memory (3.0x: direct is 3 times faster)";
}

std::string speed_columns(const Measurement& m) {
  const Widths widths(m);
  const bool stages = has_staging(m);
  return "  " + pad("", widths.lead) +
         fmt::format("{:>{}}{:>{}}{:>{}}{:>{}}{:>{}}", "8 B", widths.small, size_text(m.size),
                     widths.large, fmt::format("{} in flight", m.in_flight), kInFlightWide,
                     stages ? "staged" : "", kStagedWide, stages ? "two buffers" : "", kStagedWide);
}

std::string speed_row(const Measurement& m) {
  const Widths widths(m);
  const std::string head = "  " + pad(printable(direction_text(m)), widths.lead);
  if (!m.problem.empty()) return head + "  " + printable(m.problem);
  const std::string small = brief_number(static_cast<double>(m.small_nanoseconds) / 1e3) + " µs";
  std::string text = head + pad_left(small, widths.small) +
                     pad_left(rate_of(m.size, m.direct_nanoseconds), widths.large) +
                     pad_left(rate(m.bytes_per_second), kInFlightWide);
  for (std::uint64_t staged : {m.serial_nanoseconds, m.double_nanoseconds}) {
    if (staged > 0)
      text += pad_left(staged_text(m.size, staged, m.direct_nanoseconds), kStagedWide);
  }
  return text;
}

}  // namespace gdr::proof
