#include "sample_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace gdr::fabric {
namespace {

constexpr HostIndex kSlow = 7, kSlowNic = 3, kDead = 11;
constexpr double kRate = 24.1e9, kTime = 2150;

FleetFigure figure_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  FleetFigure figure{values[values.size() / 2], 0, values.front(), values.back()};
  for (double& value : values) value = std::abs(value - figure.median);
  std::ranges::sort(values);
  figure.deviation = 1.4826 * values[values.size() / 2];
  return figure;
}

class Maker {
 public:
  explicit Maker(const SampleFleet& fleet) : fleet_(fleet), random_(fleet.seed) {}

  Report make() {
    describe();
    // The circle method: in round k, i sends to (k - i) and to itself nothing.
    const std::uint32_t all = fleet_.hosts;
    report_.rounds_planned = report_.rounds_done = fleet_.rounds > 0 ? fleet_.rounds : all - 1;
    report_.is_sampled = fleet_.rounds > 0;
    for (std::uint32_t round = 0; round < report_.rounds_planned; ++round) {
      const std::uint32_t shift =
          fleet_.rounds > 0 ? 1 + static_cast<std::uint32_t>(random_() % (all - 1)) : round + 1;
      for (HostIndex from = 0; from < all; ++from) measure(round, from, (from + shift) % all);
    }
    add_figures();
    if (!fleet_.is_healthy) add_findings();
    return std::move(report_);
  }

 private:
  void describe() {
    report_.collector = "n0";
    report_.launcher = "srun, PMIx 4.2.2";
    report_.date = "2026-11-26 10:12 UTC";
    report_.version = "0.2.0";
    report_.pattern = Pattern::kShift;
    report_.proof_bytes = 4 << 20;
    report_.message_bytes = 1 << 20;
    report_.seconds = 31.4;
    report_.topology = "topology.conf";
    for (std::uint32_t i = 0; i < fleet_.hosts; ++i) {
      Host host;
      host.name = fmt::format("n{}", i);
      host.leaf = fmt::format("leaf{}", i / fleet_.hosts_of_leaf);
      for (std::uint32_t rail = 0; rail < fleet_.rails; ++rail) {
        host.rails.push_back({fmt::format("mlx5_{}", rail), fmt::format("GPU {}", rail),
                              fleet_.is_software, fleet_.is_software, 200e9,
                              fmt::format("fe80::{}:{}", i, rail), host.leaf, ""});
      }
      report_.hosts.push_back(std::move(host));
    }
    for (std::uint32_t rail = 0; rail < fleet_.rails; ++rail) {
      report_.rails.push_back(fmt::format("mlx5_{} with GPU {}", rail, rail));
    }
  }

  bool is_bad(HostIndex host, HostIndex which) const { return !fleet_.is_healthy && host == which; }

  void measure(std::uint32_t round, HostIndex from, HostIndex to) {
    for (std::uint16_t rail = 0; rail < fleet_.rails; ++rail) {
      Measurement one;
      one.from = from;
      one.to = to;
      one.round = round;
      one.rail = one.far_rail = rail;
      double rate = kRate * (1 + 0.01 * normal_(random_)),
             time = kTime * (1 + 0.02 * normal_(random_));
      if (is_bad(from, kSlow) || is_bad(to, kSlow)) rate *= 0.85;
      if (rail == 1 && (is_bad(from, kSlowNic) || is_bad(to, kSlowNic))) rate *= 0.6, time *= 2;
      if ((is_bad(from, kDead) || is_bad(to, kDead)) && round >= 3) {
        if (round > 3) continue;
        one.outcome = Outcome::kAbandoned;
        rate = time = 0;
      } else if (is_bad(from, 2) && to == 5 && rail == 0) {
        one.outcome = Outcome::kWrongBytes;
        report_.incidents.push_back({from, to, round, rail, "bit 3 of byte 17 flipped"});
      } else if (is_bad(from, 4) && to == 9 && rail == 0) {
        one.outcome = Outcome::kFailed;
        rate = time = 0;
        report_.incidents.push_back(
            {from, to, round, rail, "RDMA write: transport retry exceeded"});
      }
      one.bytes_per_second = static_cast<float>(rate);
      one.latency = static_cast<float>(time);
      report_.measurements.push_back(one);
    }
  }

  void add_figures() {
    for (std::uint16_t rail = 0; rail < fleet_.rails; ++rail) {
      std::vector<double> rates, times;
      for (const Measurement& one : report_.measurements) {
        if (one.rail != rail) continue;
        if (one.bytes_per_second > 0) rates.push_back(one.bytes_per_second);
        if (one.latency > 0) times.push_back(one.latency);
      }
      report_.fleet.push_back({figure_of(std::move(rates)), figure_of(std::move(times))});
    }
  }

  Finding& add(Fault fault, Culprit culprit, std::int32_t rail, const char* text) {
    report_.findings.reserve(8);  // so that references to earlier ones stay
    Finding& finding = report_.findings.emplace_back();
    finding.fault = fault;
    finding.culprit = culprit;
    finding.rail = rail;
    finding.text = text;
    return finding;
  }

  void add_findings() {
    Host& dead = report_.hosts[kDead];
    dead.state = HostState::kDied;
    dead.problem = "the connection ended";
    dead.lost_in = 3;
    Finding& wrong = add(Fault::kWrongBytes, Culprit::kPair, 0, "n2 to n5: wrong bytes on mlx5_0");
    wrong.hosts = {2, 5};
    wrong.evidence = {"bit 3 of byte 17 flipped."};
    wrong.next = text::Command("gdr prove n5");
    add(Fault::kDied, Culprit::kHost, -1, "n11 died in round 3").hosts = {kDead};
    Finding& nic = add(Fault::kSlow, Culprit::kNic, fleet_.rails > 1,
                       "n3: mlx5_1 is 40 % slower than the fleet");
    nic.hosts = {kSlowNic};
    nic.is_confirmed = true;
    nic.share = 0.6;
    nic.evidence = {"What it sent: 14.5 GB/s, the fleet 24.1 GB/s.", "Its other rail is as fast."};
    nic.doctor = "link of mlx5_1 runs at 100 Gb/s instead of 200 Gb/s";
    nic.next = text::Command("ssh n3 gdr doctor --all");
    Finding& slow =
        add(Fault::kSlow, Culprit::kHost, -1, "n7: 15 % slower than the fleet on every rail");
    slow.hosts = {kSlow};
    slow.is_confirmed = true;
    slow.share = 0.85;
    slow.next = text::Command("ssh n7 gdr doctor");
    for (const HostIndex host : {kSlow, kSlowNic}) {
      Measurement again;
      again.from = host;
      again.round = report_.rounds_done;
      again.rail = again.far_rail = static_cast<std::uint16_t>(fleet_.rails > 1);
      again.is_retest = true;
      again.bytes_per_second = static_cast<float>(kRate * (host == kSlow ? 0.85 : 0.6));
      again.latency = static_cast<float>(kTime);
      report_.measurements.push_back(again);
    }
    report_.retest_rounds = 1;
  }

  SampleFleet fleet_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  Report report_;
};

}  // namespace

Report sample_fleet(const SampleFleet& fleet) { return Maker(fleet).make(); }

void spoil(Report& report) {
  report.collector = report.launcher = report.date = report.version = report.topology = kEvilName;
  for (Host& host : report.hosts) {
    host.name = host.leaf = kEvilName;
    if (host.state != HostState::kThere) host.problem = kEvilName;
    for (Rail& rail : host.rails) {
      rail.nic = rail.gpu = rail.gid = rail.leaf = rail.leaf_port = kEvilName;
    }
  }
  for (std::string& rail : report.rails) rail = kEvilName;
  for (Incident& incident : report.incidents) incident.text = kEvilName;
  for (Finding& finding : report.findings) {
    finding.text = finding.doctor = finding.leaf = kEvilName;
    finding.evidence = {kEvilName};
  }
}

}  // namespace gdr::fabric
