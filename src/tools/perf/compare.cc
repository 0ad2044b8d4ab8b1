#include "perf/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/pool.h"
#include "perf/statistics/figure.h"

namespace gdr::perf {
namespace {

// Times of a counter that is off by more are wrong by what two runs may differ by.
constexpr double kMuchDrift = 0.001;

// What `row` can be compared by: computed anew, since a report is a file that may say anything.
// Empty: there is nothing.
Figure comparable(const Row& row) {
  const Figure* found = compared_figure(row);
  if (found == nullptr || !row.problem.empty()) return {};
  Figure figure = make_figure(found->repetitions);
  if (figure.repetitions.empty()) figure = make_figure({found->median});
  return figure.least > 0 ? figure : Figure{};
}

std::string why_not_comparable(const Row& row) {
  return row.problem.empty() ? "it has no figure above zero" : row.problem;
}

void remark_on(const char* side, const Row& row, const Figure& figure,
               std::vector<std::string>& remarks) {
  if (const auto noise = noise_remark(figure))
    remarks.push_back(fmt::format("{}: {}", side, *noise));
  if (row.lost > 0) remarks.push_back(fmt::format("{}: {} messages lost", side, row.lost));
  if (row.checked && row.checked->wrong > 0) {
    remarks.push_back(fmt::format("{}: {} messages wrong", side, row.checked->wrong));
  }
}

Verdict judge(const ComparedRow& row) {
  const Difference& found = row.difference;
  if (noise_remark(row.base) || noise_remark(row.other)) return Verdict::kNoisy;
  if (!found.is_shown()) return Verdict::kNoDifference;
  const bool larger_is_better = row.load.measure != Measure::kLatency;
  return (found.interval.low > 0) == larger_is_better ? Verdict::kBetter : Verdict::kWorse;
}

ComparedRow compare_rows(const Row& base, const Row& other, std::uint64_t seed) {
  ComparedRow row;
  row.load = base.load;
  row.base = comparable(base);
  row.other = comparable(other);
  row.difference = difference(row.base.repetitions, row.other.repetitions, seed);
  row.verdict = judge(row);
  if (least_p(row.base.repetitions.size(), row.other.repetitions.size()) > 1 - kConfidence) {
    row.remarks.push_back(fmt::format("{} and {} repetitions are too few to show a difference",
                                      row.base.repetitions.size(), row.other.repetitions.size()));
  }
  remark_on("base", base, row.base, row.remarks);
  remark_on("other", other, row.other, row.remarks);
  return row;
}

void match_rows(const Report& base, const Report& other, std::uint64_t seed, Comparison& result) {
  RowsByLoad others(other.rows);
  for (const Row& row : base.rows) {
    const Row* match = others.take(row.load);
    if (match == nullptr) {
      result.only_base.push_back({row.load, "the other report has no such row"});
    } else if (comparable(row).repetitions.empty()) {
      const bool neither = comparable(*match).repetitions.empty();
      (neither ? result.only_base : result.only_other)
          .push_back({row.load, "in the base: " + why_not_comparable(row)});
    } else if (comparable(*match).repetitions.empty()) {
      result.only_base.push_back({row.load, "in the other: " + why_not_comparable(*match)});
    } else {
      result.rows.push_back(compare_rows(row, *match, seed));
    }
  }
  RowsByLoad bases(base.rows);
  for (const Row& row : other.rows) {
    if (bases.take(row.load) == nullptr) {
      result.only_other.push_back({row.load, "the base has no such row"});
    }
  }
}

struct SideField {
  const char* what;
  std::string (*text)(const Side&);
};

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

std::string gpus_of(const Side& side) {
  std::string text;
  for (const std::string& gpu : side.gpus) text += (text.empty() ? "" : ", ") + gpu;
  return text;
}

std::string of_ports(const Side& side, std::string (*text)(const Port&)) {
  std::string all;
  for (const Port& port : side.ports) all += (all.empty() ? "" : ", ") + text(port);
  return all;
}

constexpr SideField kSideFields[] = {
    {"software NIC", [](const Side& side) { return yes_or_no(side.soft_nic); }},
    {"software GPU", [](const Side& side) { return yes_or_no(side.soft_gpu); }},
    {"host", [](const Side& side) { return side.host; }},
    {"processor", [](const Side& side) { return side.processor; }},
    {"kernel", [](const Side& side) { return side.kernel; }},
    {"gdrkit", [](const Side& side) { return side.version; }},
    {"NIC", [](const Side& side) { return of_ports(side, [](const Port& p) { return p.nic; }); }},
    {"port",
     [](const Side& side) {
       return of_ports(side, [](const Port& p) { return std::to_string(p.number); });
     }},
    {"network device",
     [](const Side& side) { return of_ports(side, [](const Port& p) { return p.netdev; }); }},
    {"GID index",
     [](const Side& side) {
       return of_ports(side, [](const Port& p) { return std::to_string(p.gid_index); });
     }},
    {"path MTU",
     [](const Side& side) {
       return of_ports(side, [](const Port& p) { return fmt::format("{} bytes", p.path_mtu); });
     }},
    {"link",
     [](const Side& side) {
       return of_ports(side, [](const Port& p) {
         return fmt::format("{:g} Gb/s", p.link_bits_per_second / 1e9);
       });
     }},
    {"libibverbs", [](const Side& side) { return side.library; }},
    {"GPUs", gpus_of},
};

void add_if_unlike(std::string what, std::string base, std::string other,
                   std::vector<Unlike>& unlike) {
  if (base == other) return;
  unlike.push_back({std::move(what), std::move(base), std::move(other)});
}

std::string clock_text(const ClockReport& clock) {
  if (!clock.invariant) return "the system clock";
  if (!(std::abs(clock.drift) > kMuchDrift)) return "the CPU's counter";
  return fmt::format("the CPU's counter, drift {:+.2f} %", clock.drift * 100);
}

std::vector<Unlike> find_unlike(const Report& base, const Report& other) {
  std::vector<Unlike> unlike;
  const auto path = [](const Report& report) {
    return std::string(report.loopback ? "loopback" : "client and server");
  };
  add_if_unlike("path", path(base), path(other), unlike);
  for (const SideField& field : kSideFields) {
    const std::string base_near = field.text(base.near), base_far = field.text(base.far);
    const std::string other_near = field.text(other.near), other_far = field.text(other.far);
    if (base_near == base_far && other_near == other_far) {
      add_if_unlike(field.what, base_near, other_near, unlike);
    } else {
      add_if_unlike(fmt::format("client's {}", field.what), base_near, other_near, unlike);
      add_if_unlike(fmt::format("server's {}", field.what), base_far, other_far, unlike);
    }
  }
  add_if_unlike("clock", clock_text(base.clock), clock_text(other.clock), unlike);
  return unlike;
}

Source source_of(std::span<const Report> runs) {
  Source source{"", runs.front().date, runs.front().command};
  if (runs.size() > 1) source.command += fmt::format(" (and {} more)", runs.size() - 1);
  return source;
}

// The first run of a side beside each further one.
void add_unlike_runs(const std::string& whose, std::span<const Report> runs,
                     std::vector<Unlike>& unlike) {
  for (const Report& run : runs.subspan(1)) {
    for (Unlike& one : find_unlike(runs.front(), run)) {
      one.what = fmt::format("{} between {} own runs", one.what, whose);
      const bool is_known = std::ranges::any_of(unlike, [&](const Unlike& known) {
        return known.what == one.what && known.other == one.other;
      });
      if (!is_known) unlike.push_back(std::move(one));
    }
  }
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return "better";
    case Verdict::kWorse:
      return "worse";
    case Verdict::kNoisy:
      return "too noisy to tell";
    default:
      return "no difference shown";
  }
}

Comparison compare(const Report& base, const Report& other, std::uint64_t seed) {
  return compare(std::span(&base, 1), std::span(&other, 1), seed);
}

Comparison compare(std::span<const Report> base, std::span<const Report> other,
                   std::uint64_t seed) {
  Comparison result;
  result.base = source_of(base);
  result.other = source_of(other);
  result.unlike = find_unlike(base.front(), other.front());
  add_unlike_runs("the base's", base, result.unlike);
  add_unlike_runs("the other's", other, result.unlike);
  match_rows(pool(base), pool(other), seed, result);
  return result;
}

bool is_worse_by(const Comparison& comparison, double share) {
  return std::ranges::any_of(comparison.rows, [&](const ComparedRow& row) {
    return row.verdict == Verdict::kWorse && std::abs(row.difference.share) >= share;
  });
}

}  // namespace gdr::perf
