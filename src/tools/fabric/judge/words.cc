#include "fabric/judge/words.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "fabric/host_list.h"

namespace gdr::fabric {
namespace {

using text::Command;

constexpr std::size_t kLongestList = 60;  // characters of a list of hosts in a sentence

// Slurm and gdr fabric read lists in names, and Slurm takes ALL, in whatever letters, for every
// node: a name that says more than itself is the reader's to replace.
std::string node_name(const Report& report, HostIndex host) {
  const std::string& name = report.hosts[host].name;
  const bool plain = text::is_plain_name(name) && strcasecmp(name.c_str(), "all") != 0;
  return plain ? name : "NAME";
}

std::string node_list(const Report& report, const std::vector<HostIndex>& hosts) {
  std::vector<std::string> names;
  for (const HostIndex host : hosts) names.push_back(node_name(report, host));
  return compress_host_list(std::move(names));
}

Command on_host(const Report& report, HostIndex host, text::CommandForm<0> form) {
  const Command command(form);
  if (report.processes_as_hosts) return command;
  const std::string name = node_name(report, host);
  return runs_under_slurm(report) ? Command("srun -w {} {}", name, command)
                                  : Command("ssh {} {}", name, command);
}

// The same run, with these hosts only.
Command again(const Report& report, const std::vector<HostIndex>& hosts) {
  if (report.processes_as_hosts) return {};
  const std::string list = node_list(report, hosts);
  return runs_under_slurm(report) ? Command("srun -N{} -w {} gdr fabric", hosts.size(), list)
                                  : Command("gdr fabric --hosts {}", list);
}

Command drain(const Report& report, const Finding& finding) {
  const std::string fault(name_of(finding.fault));
  if (finding.rail < 0) return drain_command(report, finding.hosts, fault);
  const std::string rail =
      rail_name(report, finding.hosts.front(), static_cast<std::uint32_t>(finding.rail));
  return drain_command(report, finding.hosts, rail + " " + fault);
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

Command drain_command(const Report& report, const std::vector<HostIndex>& hosts,
                      const std::string& reason) {
  return Command("scontrol update NodeName={} State=DRAIN Reason={}", node_list(report, hosts),
                 "gdr fabric: " + reason);
}

bool runs_under_slurm(const Report& report) {
  return report.launcher.find("srun") != std::string::npos ||
         report.launcher.find("Slurm") != std::string::npos ||
         report.launcher.find("slurm") != std::string::npos;
}

bool is_about_transfers(const Finding& finding) {
  switch (finding.fault) {
    case Fault::kWrongBytes:
    case Fault::kFailed:
    case Fault::kSlow:
    case Fault::kHighLatency:
      return true;
    case Fault::kDied:
    case Fault::kHung:
    case Fault::kNeverCame:
    case Fault::kLeftOut:
      return false;
  }
  return false;
}

bool is_of_one_host(const Finding& finding) {
  return finding.culprit == Culprit::kHost || finding.culprit == Culprit::kNic ||
         finding.culprit == Culprit::kCable;
}

bool is_to_be_drained(const Report& report, const Finding& finding) {
  // A stand-in that is slow is no reason to take a host out of service.
  return finding.is_confirmed && is_about_transfers(finding) && is_of_one_host(finding) &&
         runs_under_slurm(report) && !report.processes_as_hosts && !is_simulation(report) &&
         std::ranges::all_of(finding.hosts,
                             [&](HostIndex host) { return took_part(report.hosts[host]); });
}

Command next_command(const Report& report, const Finding& finding) {
  if (finding.hosts.empty()) return {};
  const HostIndex host = finding.hosts.front();
  switch (finding.culprit) {
    case Culprit::kFleet:
      return on_host(report, host, "gdr doctor");
    case Culprit::kHost:
    case Culprit::kNic:
    case Culprit::kCable:
      if (finding.fault == Fault::kNeverCame) {
        return runs_under_slurm(report) ? Command("scontrol show node {}", node_name(report, host))
                                        : on_host(report, host, "gdr version");
      }
      // Mostly another version, or other devices: nothing that draining mends.
      if (finding.fault == Fault::kLeftOut) return on_host(report, host, "gdr list");
      if (is_to_be_drained(report, finding)) return drain(report, finding);
      return on_host(report, host, "gdr doctor");
    case Culprit::kPair:
      return finding.hosts.size() < 2 ? Command() : again(report, finding.hosts);
    case Culprit::kLeaf:
    case Culprit::kSpine:
      // It shows the counters of all switches' ports; Ethernet switches have no common command.
      return report.topology.find("ibnetdiscover") != std::string::npos ? Command("ibqueryerrors")
                                                                        : Command();
  }
  return {};
}

}  // namespace gdr::fabric
