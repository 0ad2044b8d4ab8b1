#include "claims.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace gdr::bench {
namespace {

struct Entry {
  const char* text;
  bool bandwidth;  // limit time / measured time, at least `target`; else the inverse, at most
  double target;
  std::vector<double> ratios = {};
  std::string impossible = {};
};

std::array<Entry, 4>& entries() {
  static std::array<Entry, 4> all = {{
      {"RC write, 1 MiB, bandwidth / process_vm_writev", true, 0.9},
      {"RC write, 8 MiB in huge pages, bandwidth / process_vm_writev", true, 0.9},
      {"RC write, 8 B, latency / process_vm_writev", false, 1.3},
      {"RC send, 64 B, half a round trip by events / bare eventfds", false, 2.0},
  }};
  return all;
}

Entry& entry_of(Claim claim) { return entries()[static_cast<std::size_t>(claim)]; }

std::string measured(const Entry& entry) {
  if (entry.ratios.empty()) {
    return entry.impossible.empty() ? "not measured" : "not measured: " + entry.impossible;
  }
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", quantile(entry.ratios, 0.5),
                     quantile(entry.ratios, 0.1), quantile(entry.ratios, 0.9));
}

const char* verdict(const Entry& entry) {
  if (entry.ratios.empty()) return "-";
  const double ratio = quantile(entry.ratios, 0.5);
  return (entry.bandwidth ? ratio >= entry.target : ratio <= entry.target) ? "yes" : "NO";
}

}  // namespace

void record(Claim claim, const Rounds& rounds) {
  Entry& entry = entry_of(claim);
  for (const double ratio : rounds.ratios()) {
    entry.ratios.push_back(entry.bandwidth ? 1 / ratio : ratio);
  }
}

void record_impossible(Claim claim, std::string why) {
  entry_of(claim).impossible = std::move(why);
}

void print_claims(FILE* to) {
  fmt::print(to, "\n{:<62} | {:<20} | {:<7} | met\n", "claim", "measured ratio", "target");
  for (const Entry& entry : entries()) {
    fmt::print(to, "{:<62} | {:<20} | {} {:.1f}  | {}\n", entry.text, measured(entry),
               entry.bandwidth ? ">=" : "<=", entry.target, verdict(entry));
  }
  fmt::print(to, "Ratios: median of the rounds (middle 80 % of them).\n");
}

}  // namespace gdr::bench
