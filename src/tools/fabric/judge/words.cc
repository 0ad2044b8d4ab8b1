#include "fabric/judge/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "fabric/host_list.h"

namespace gdr::fabric {
namespace {

constexpr std::size_t kLongestList = 60;  // characters of a list of hosts in a sentence

// What others named, as one word for a shell.
std::string shell_word(const std::string& name, std::string_view also_plain = "") {
  const bool plain = !name.empty() && std::ranges::all_of(name, [&](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-' ||
           also_plain.find(letter) != std::string_view::npos;
  });
  if (plain && name.front() != '-') return name;
  std::string quoted = "'";
  for (const char letter : printable(name)) {
    if (letter != '\'') quoted += letter;
  }
  return quoted + "'";
}

// Brackets are a shell's, too; but they match only files of these names, and everybody types lists
// of hosts like that.
std::string host_list_word(const std::string& list) { return shell_word(list, "[],"); }

std::string on_host(const Report& report, HostIndex host, const std::string& command) {
  if (report.processes_as_hosts) return command;
  const std::string name = shell_word(report.hosts[host].name);
  return runs_under_slurm(report) ? fmt::format("srun -w {} {}", name, command)
                                  : fmt::format("ssh {} {}", name, command);
}

// The same run, with these hosts only.
std::string again(const Report& report, const std::vector<HostIndex>& hosts) {
  if (report.processes_as_hosts) return "";
  std::vector<std::string> names;
  for (const HostIndex host : hosts) names.push_back(report.hosts[host].name);
  const std::size_t count = names.size();
  const std::string list = host_list_word(compress_host_list(std::move(names)));
  return runs_under_slurm(report) ? fmt::format("srun -N{} -w {} gdr fabric", count, list)
                                  : fmt::format("gdr fabric --hosts {}", list);
}

std::string drain(const Report& report, const Finding& finding) {
  std::vector<std::string> names;
  for (const HostIndex host : finding.hosts) names.push_back(report.hosts[host].name);
  // The text of a finding has no quotes of its own, but names in it are others'.
  std::string reason = finding.rail < 0
                           ? std::string(name_of(finding.fault))
                           : fmt::format("{} {}",
                                         rail_name(report, finding.hosts.front(),
                                                   static_cast<std::uint32_t>(finding.rail)),
                                         name_of(finding.fault));
  std::erase_if(reason, [](char letter) {
    return letter == '"' || letter == '$' || letter == '`' || letter == '\\' || letter == '!';
  });
  return drain_text(compress_host_list(std::move(names)), reason);
}

}  // namespace

std::string host_name(const Report& report, HostIndex host) {
  const std::string& name = report.hosts[host].name;
  return name.empty() ? fmt::format("host {}", host) : printable(name);
}

std::string rail_name(const Report& report, HostIndex host, std::uint32_t rail) {
  const std::vector<Rail>& rails = report.hosts[host].rails;
  return rail < rails.size() && !rails[rail].nic.empty() ? printable(rails[rail].nic)
                                                         : fmt::format("rail {}", rail);
}

std::string cell_name(const View& view, std::uint32_t cell) {
  const HostIndex host = view.host_of(cell);
  return fmt::format("{} {}", host_name(view.report(), host),
                     rail_name(view.report(), host, view.rail_of(cell)));
}

std::string fleet_rail_name(const Report& report, std::uint32_t rail) {
  return rail < report.rails.size() && !report.rails[rail].empty() ? printable(report.rails[rail])
                                                                   : fmt::format("rail {}", rail);
}

std::string hosts_text(const Report& report, std::vector<HostIndex> hosts) {
  std::ranges::sort(hosts);
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  std::vector<std::string> names;
  for (const HostIndex host : hosts) names.push_back(host_name(report, host));
  std::string all = compress_host_list(names);
  if (all.size() <= kLongestList) return all;
  names.resize(3);
  return fmt::format("{} and {} more", compress_host_list(names), hosts.size() - names.size());
}

std::string rate_text(double bits_per_second) {
  if (bits_per_second >= 100e9) return fmt::format("{:.0f} Gb/s", bits_per_second / 1e9);
  if (bits_per_second >= 1e9) return fmt::format("{:.3g} Gb/s", bits_per_second / 1e9);
  return fmt::format("{:.3g} Mb/s", bits_per_second / 1e6);
}

std::string slower_text(double share) {
  return fmt::format("{:.0f} % slower", std::max(1.0, std::round((1 - share) * 100)));
}

std::string percent_text(double share) {
  const double percent = share * 100;
  return percent > 0 && percent < 1 ? fmt::format("{:.2g} %", percent)
                                    : fmt::format("{:.0f} %", percent);
}

std::string times_text(std::size_t count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

std::string drain_text(const std::string& list, const std::string& reason) {
  return fmt::format("scontrol update NodeName={} State=DRAIN Reason=\"gdr fabric: {}\"",
                     host_list_word(list), reason);
}

bool runs_under_slurm(const Report& report) {
  return report.launcher.find("srun") != std::string::npos ||
         report.launcher.find("Slurm") != std::string::npos ||
         report.launcher.find("slurm") != std::string::npos;
}

std::string next_command(const Report& report, const Finding& finding) {
  if (finding.hosts.empty()) return "";
  const HostIndex host = finding.hosts.front();
  switch (finding.culprit) {
    case Culprit::kFleet:
      return on_host(report, host, "gdr doctor");
    case Culprit::kHost:
    case Culprit::kNic:
    case Culprit::kCable:
      if (finding.fault == Fault::kNeverCame) {
        return runs_under_slurm(report)
                   ? fmt::format("scontrol show node {}", shell_word(report.hosts[host].name))
                   : on_host(report, host, "gdr version");
      }
      // Mostly another version, or other devices: nothing that draining mends.
      if (finding.fault == Fault::kLeftOut) return on_host(report, host, "gdr list");
      // A stand-in that is slow is no reason to take a host out of service.
      if (finding.is_confirmed && runs_under_slurm(report) && !report.processes_as_hosts &&
          !is_simulation(report)) {
        return drain(report, finding);
      }
      return on_host(report, host, "gdr doctor");
    case Culprit::kPair:
      return finding.hosts.size() < 2 ? "" : again(report, finding.hosts);
    case Culprit::kLeaf:
    case Culprit::kSpine:
      // It shows the counters of all switches' ports; Ethernet switches have no common command.
      return report.topology.find("ibnetdiscover") != std::string::npos ? "ibqueryerrors" : "";
  }
  return "";
}

}  // namespace gdr::fabric
