#include "fabric/output/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fabric/host_list.h"
#include "text/format.h"

namespace gdr::fabric {
namespace {

std::string count_of(std::uint64_t count, const std::string& noun) {
  return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string size_of_run(const Report& report, const Coverage& coverage) {
  std::string text =
      fmt::format("{}, {}", count_of(coverage.hosts, "host"), count_of(rail_count(report), "rail"));
  if (coverage.pairs == 0) return text;
  if (coverage.pairs_met >= coverage.pairs) {
    return text + fmt::format(", {}{} of hosts", coverage.pairs > 1 ? "all " : "",
                              count_of(coverage.pairs, "pair"));
  }
  return text + fmt::format(", {} of {} pairs of hosts", grouped(coverage.pairs_met),
                            grouped(coverage.pairs));
}

bool is_whole(const Report& report) {
  return !report.is_interrupted && report.rounds_done >= report.rounds_planned;
}

void choose_words(const Report& report, const Coverage& coverage, Headline& head) {
  const std::string size = size_of_run(report, coverage);
  if (!report.findings.empty()) {
    head = {Verdict::kFindings,
            fmt::format("{} FINDING{}", grouped(report.findings.size()),
                        report.findings.size() == 1 ? "" : "S"),
            size,
            {}};
  } else if (!is_whole(report)) {
    head = {Verdict::kInterrupted,
            "INTERRUPTED",
            fmt::format("{} of {} rounds done, no finding in them; {}", report.rounds_done,
                        report.rounds_planned, size),
            {}};
  } else if (coverage.of(Outcome::kProved) == 0) {
    head = {Verdict::kNothing, "NOTHING PROVED", "no transfer was compared; " + size, {}};
  } else if (is_simulation(report)) {
    head = {Verdict::kSimulated, "SIMULATION PASSED", size + ", every byte compared", {}};
  } else if (report.processes_as_hosts) {
    head = {Verdict::kOneHost, "PASSED WITHIN ONE HOST", size + ", every byte compared", {}};
  } else {
    head = {Verdict::kProved, "FABRIC PROVED", size + ", every byte compared", {}};
  }
}

}  // namespace

Headline headline_of(const Report& report, const Coverage& coverage) {
  Headline head;
  choose_words(report, coverage, head);
  const std::string replaced = stand_ins(report);
  if (!replaced.empty()) {
    head.labels.push_back(
        fmt::format("Simulated {}: this says nothing about real hardware.", replaced));
  }
  if (report.processes_as_hosts) {
    head.labels.push_back(
        "Processes of one host stood for hosts: no network between hosts was tested.");
  }
  if (!report.findings.empty() && !is_whole(report)) {
    head.labels.push_back(fmt::format("Interrupted: {} of {} rounds done.", report.rounds_done,
                                      report.rounds_planned));
  }
  return head;
}

bool was_retested(const Finding& finding) {
  return finding.is_confirmed &&
         (finding.fault == Fault::kWrongBytes || finding.fault == Fault::kFailed ||
          finding.fault == Fault::kSlow || finding.fault == Fault::kHighLatency);
}

std::vector<std::string> not_tested(const Report& report, const Coverage& coverage) {
  std::vector<std::string> open;
  if (coverage.lost > 0) {
    open.push_back(
        fmt::format("{} did not take part to the end.", count_of(coverage.lost, "host")));
  }
  if (coverage.pairs > coverage.pairs_met) {
    open.push_back(fmt::format("{} of {} pairs of hosts have not met{}.",
                               grouped(coverage.pairs - coverage.pairs_met),
                               grouped(coverage.pairs), report.is_sampled ? " (sampled)" : ""));
  }
  if (const std::uint64_t count = coverage.of(Outcome::kAbandoned)) {
    open.push_back(
        fmt::format("{} ended because the other side was lost.", count_of(count, "transfer")));
  }
  if (rail_count(report) > 1 && !coverage.has_crossed_rails) {
    open.push_back("Rails met the same rail of other hosts only, never another one.");
  }
  if (!coverage.has_bandwidth) open.push_back("Bandwidth was not measured.");
  if (!coverage.has_latency) open.push_back("Latency was not measured.");
  const bool host_memory = std::ranges::any_of(report.hosts, [](const Host& host) {
    return took_part(host) &&
           std::ranges::any_of(host.rails, [](const Rail& rail) { return rail.gpu.empty(); });
  });
  if (host_memory) open.push_back("GPU memory was not used on every rail: host memory was.");
  if (report.topology.empty() && coverage.hosts > 2) {
    open.push_back("Leaf switches are not known, so a bad leaf or spine cannot be named.");
  }
  return open;
}

std::string host_names(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNamed = 12, kMostCharacters = 400;
  std::string text = printable(compress_host_list(names));
  if (text.size() <= kMostCharacters) return text;
  text.clear();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == kMostNamed) return text + fmt::format(" and {} more", grouped(names.size() - i));
    text += (i > 0 ? ", " : "") + printable(names[i]);
  }
  return text;
}

std::vector<LostHosts> lost_hosts(const Report& report) {
  std::map<std::pair<HostState, std::string>, std::vector<std::string>> groups;
  for (const Host& host : report.hosts) {
    if (host.state != HostState::kThere) groups[{host.state, host.problem}].push_back(host.name);
  }
  std::vector<LostHosts> lost;
  for (auto& [key, names] : groups) lost.push_back({key.first, key.second, std::move(names)});
  std::ranges::stable_sort(
      lost, [](const LostHosts& a, const LostHosts& b) { return a.names.size() > b.names.size(); });
  return lost;
}

std::string duration_text(double seconds) {
  if (!(seconds > 0)) return "0 s";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::min(std::ceil(seconds), 1e12));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

}  // namespace gdr::fabric
