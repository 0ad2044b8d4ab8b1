#include "perf/output/figures.h"

#include <fmt/format.h>

#include <cmath>

namespace gdr::perf {
namespace {

// A limit is at most reached; both figures have their noise.
constexpr double kMostShare = 1.05;

bool is_counterpart(const Place& direct, const Place& staged) {
  if (staged.kind != Place::Kind::kStaged) return direct == staged;
  return direct.is_direct() && direct.gpu == staged.gpu;
}

// Same except location and registration, which staged memory lacks.
bool is_same_but_places(const Load& a, const Load& b) {
  Load moved = b;
  moved.near = a.near;
  moved.far = a.far;
  moved.way = a.way;
  return moved.size == a.size && is_same_group(a, moved);
}

double factor_of(const Row& direct, const Row& staged) {
  const double of_direct = main_figure(direct), of_staged = main_figure(staged);
  if (of_direct <= 0 || of_staged <= 0) return 0;
  return direct.load.measure == Measure::kLatency ? of_staged / of_direct : of_direct / of_staged;
}

void add_settings(const Load& load, std::string& title) {
  const Load usual;
  Load::each_field([&](const char*, auto field, const char* words) {
    if (*words == 0 || load.*field == usual.*field) return;
    title += ", " + fmt::format(fmt::runtime(words), field_text(load.*field));
  });
}

}  // namespace

std::string digits(double value) {
  const double size = std::abs(value);
  int behind = 0;
  for (double least = 99.95; behind < 5 && size < least; least /= 10) ++behind;
  return size == 0 ? "0" : fmt::format("{:.{}f}", value, behind);
}

std::string message_size(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit < 3 && bytes > 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string gigabytes(double bytes_per_second) { return digits(bytes_per_second / 1e9) + " GB/s"; }

std::string megamessages(double messages_per_second) {
  return digits(messages_per_second / 1e6) + " M/s";
}

std::string microseconds(double nanoseconds) { return digits(nanoseconds / 1e3) + " µs"; }

std::string spread_text(double spread) {
  constexpr double kMost = 9.995;
  return spread < kMost ? percent(spread) : ">999 %";
}

std::string percent(double share) {
  const double value = share * 100;
  return fmt::format("{:.{}f} %", value, value < 9.95 ? 1 : 0);
}

std::string share_text(double share) {
  return share < 1 ? percent(share) + " of" : digits(share) + "x";
}

std::string speed_up(double factor) {
  return factor < 1 ? digits(1 / factor) + "x slower" : digits(factor) + "x faster";
}

std::string direction(const Load& load) {
  const char* arrow = load.both_ways || is_atomic(load.operation) ? "↔"
                      : load.operation == Operation::kRead        ? "←"
                                                                  : "→";
  return text_of(load.near) + " " + arrow + " " + text_of(load.far);
}

std::string group_title(const Load& load, const char* unit) {
  std::string title =
      fmt::format("{}, {}, {}{}{}: {}", name_of(load.operation), name_of(load.transport),
                  name_of(load.measure), *unit == 0 ? "" : " in ", unit, direction(load));
  add_settings(load, title);
  return title;
}

bool is_same_group(const Load& a, const Load& b) {
  Load sized = b;
  sized.size = a.size;
  return a == sized;
}

std::string shares_text(const Row& row) {
  std::string text;
  for (const PortShare& port : row.ports) {
    const std::string figure =
        row.load.measure == Measure::kRate ? megamessages(port.rate) : gigabytes(port.bandwidth);
    const bool alike = port.near_port == port.far_port;
    text += fmt::format("{}{}{} {} ({})", text.empty() ? "" : ", ", port.near_port,
                        alike ? "" : " with " + port.far_port, figure, percent(port.share));
  }
  return text;
}

bool holds(const Limit& limit) { return limit.value > 0 && limit.share <= kMostShare; }

const Limit* nearest_limit(const Row& row) {
  const Limit* nearest = nullptr;
  for (const Limit& limit : row.limits) {
    if (holds(limit) && (!nearest || limit.share > nearest->share)) nearest = &limit;
  }
  return nearest;
}

double main_figure(const Row& row) {
  switch (row.load.measure) {
    case Measure::kBandwidth:
      return row.bandwidth ? row.bandwidth->median : 0;
    case Measure::kRate:
      return row.rate ? row.rate->median : 0;
    default:
      return row.latency ? row.latency->p50 : 0;
  }
}

std::vector<Gain> gains(const std::vector<Row>& rows) {
  std::vector<Gain> found;
  for (const Row& staged : rows) {
    if (!is_staged(staged.load)) continue;
    for (const Row& direct : rows) {
      if (!is_counterpart(direct.load.near, staged.load.near) ||
          !is_counterpart(direct.load.far, staged.load.far) ||
          !is_same_but_places(direct.load, staged.load)) {
        continue;
      }
      const double factor = factor_of(direct, staged);
      if (factor > 0) found.push_back({&direct, &staged, factor});
    }
  }
  return found;
}

std::string stand_ins(const Side& side) {
  if (side.soft_nic && side.soft_gpu) return "NIC and GPU";
  return side.soft_nic ? "NIC" : side.soft_gpu ? "GPU" : "";
}

}  // namespace gdr::perf
