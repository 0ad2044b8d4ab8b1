// Two runs beside each other, such as last month's and today's: hosts that came and went, findings
// that are new or gone, and what became faster or slower by more than noise.
//
//   const Comparison comparison = compare(before, now);
//   fmt::print("{}", to_text(comparison, text::terminal_columns(stdout)));
//   return is_worse_by(comparison, 0.05) ? 1 : 0;
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/report.h"
#include "text/envelope.h"

namespace gdr::fabric {

enum class Measure : std::uint8_t { kSent, kReceived, kLatency, kBandwidth };
std::string_view name_of(Measure measure);  // "sent", "received", "latency", "bandwidth"

struct Change {
  std::string host;  // empty: of the whole fleet
  std::uint16_t rail = 0;
  std::string rail_name;
  Measure measure = Measure::kSent;
  double base = 0, other = 0;  // medians: bytes a second, nanoseconds
  double share = 0;            // the other by the base, less one
  double noise = 0;            // what `share` may be by chance
  bool is_shown = false;       // it is beyond the noise
  bool is_worse = false;       // slower, or a higher latency
};

// A difference between the runs that makes their figures unlike: "pattern", "simulated".
struct Unlike {
  std::string what, base, other;
};

struct Source {
  std::string file;  // for the caller to fill in
  std::string date, launcher, collector, version;
  std::size_t hosts = 0;
};

struct Comparison {
  Source base, other;
  std::vector<Unlike> unlike;
  std::vector<std::string> hosts_came, hosts_went;  // names; lost hosts are not there
  std::vector<Finding> findings_new, findings_gone, findings_still;
  std::vector<Change> fleet;  // each rail and measure that both have
  // Hosts whose medians changed otherwise than the fleet's, the worst first.
  std::vector<Change> hosts;
  std::size_t hosts_compared = 0;
};

Comparison compare(const Report& base, const Report& other);

// Whether a figure of the fleet or of a host became worse by `share` or more, or there is a new
// finding (one about speed counts from `share` on).
bool is_worse_by(const Comparison& comparison, double share);

// `columns`: as text::wrap.
std::string to_text(const Comparison& comparison, std::size_t columns);
std::string to_json(const Comparison& comparison, const text::Provenance& provenance = {});

}  // namespace gdr::fabric
