// A fabric that is made up: hosts with rails under leaves, uplinks to spines, noise with heavy
// tails, and faults at places that are known. It makes the measurements of a run, so that a
// judgement can be held against the truth.
//
//   MadeUpFabric fabric({.hosts = 64, .seed = 1});
//   fabric.faults.push_back(slow_host(7, 0.85));
//   const Report report = fabric.run();   // planned rounds, retests, judgement
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fabric/judge/judge.h"
#include "fabric/schedule/random.h"
#include "fabric/schedule/retest.h"
#include "fabric/schedule/schedule.h"

namespace gdr::fabric {

struct FabricOptions {
  std::uint32_t hosts = 64, hosts_per_leaf = 16, uplinks = 16;
  std::uint16_t rails = 1;
  std::uint32_t rounds = 8;  // 0: each pair
  Pattern pattern = Pattern::kTournament;
  double noise = 0.01;
  bool leaves_known = true;
  double link = 400e9, reached = 0.97;  // share of the link that a healthy pair reaches
  bool retest = true;
  std::string launcher = "srun, PMIx 4.2.2";
  std::uint64_t seed = 1;
};

// What a fault does to a measurement. `uplink`: the one of the sender's leaf, and the spine, that
// the transfer takes where it crosses leaves.
struct Transfer {
  Measurement* m = nullptr;
  std::uint32_t near_leaf = 0, far_leaf = 0, uplink = 0;
  Random* random = nullptr;
  void slow(double share) const {
    m->bytes_per_second *= static_cast<float>(share);
    m->latency *= 1.02F;
  }
};
using InjectedFault = std::function<void(const Transfer&)>;

inline bool touches(const Measurement& m, HostIndex host) { return m.from == host || m.to == host; }

inline InjectedFault slow_host(HostIndex host, double share) {
  return [=](const Transfer& t) {
    if (touches(*t.m, host)) t.slow(share);
  };
}
inline bool touches_nic(const Measurement& m, HostIndex host, std::uint16_t rail) {
  return (m.from == host && m.rail == rail) || (m.to == host && m.far_rail == rail);
}
inline InjectedFault slow_nic(HostIndex host, std::uint16_t rail, double share) {
  return [=](const Transfer& t) {
    if (touches_nic(*t.m, host, rail)) t.slow(share);
  };
}
// Slow only in what it receives.
inline InjectedFault slow_cable(HostIndex host, std::uint16_t rail, double share) {
  return [=](const Transfer& t) {
    if (t.m->to == host && t.m->far_rail == rail) t.slow(share);
  };
}
inline InjectedFault slow_uplink(std::uint32_t leaf, std::uint32_t uplink, double share) {
  return [=](const Transfer& t) {
    const bool leaves = t.near_leaf != t.far_leaf;
    if (leaves && (t.near_leaf == leaf || t.far_leaf == leaf) && t.uplink == uplink) t.slow(share);
  };
}
inline InjectedFault slow_leaf(std::uint32_t leaf, double share) {
  return [=](const Transfer& t) {
    if (t.near_leaf != t.far_leaf && (t.near_leaf == leaf || t.far_leaf == leaf)) t.slow(share);
  };
}
inline InjectedFault slow_spine(std::uint32_t spine, double share) {
  return [=](const Transfer& t) {
    if (t.near_leaf != t.far_leaf && t.uplink == spine) t.slow(share);
  };
}
inline InjectedFault flapping(HostIndex host, std::uint16_t rail, double often, double share) {
  return [=](const Transfer& t) {
    const bool now = static_cast<double>(t.random->below(1000)) < often * 1000;
    if (touches_nic(*t.m, host, rail) && now) t.slow(share);
  };
}
inline InjectedFault late_host(HostIndex host, float times) {
  return [=](const Transfer& t) {
    if (touches(*t.m, host)) t.m->latency *= times;
  };
}
inline InjectedFault ends_with(Outcome outcome, std::function<bool(const Measurement&)> where) {
  return [=](const Transfer& t) {
    if (where(*t.m)) t.m->outcome = outcome;
  };
}

class MadeUpFabric {
 public:
  explicit MadeUpFabric(const FabricOptions& options)
      : options_(options), random_(options.seed * 7919 + 17) {
    report.launcher = options.launcher;
    report.message_bytes = 1 << 20;
    for (std::uint16_t rail = 0; rail < options.rails; ++rail) {
      report.rails.push_back("mlx5_" + std::to_string(rail) + " with GPU " + std::to_string(rail));
    }
    for (HostIndex number = 0; number < options.hosts; ++number) {
      Host host;
      const std::string digits = std::to_string(number);
      host.name = "n" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
      for (std::uint16_t rail = 0; rail < options.rails; ++rail) {
        host.rails.push_back({.nic = "mlx5_" + std::to_string(rail),
                              .gpu = "GPU " + std::to_string(rail),
                              .link_bits_per_second = options.link,
                              .gid = "",
                              .leaf = "",
                              .leaf_port = ""});
      }
      if (options.leaves_known) host.leaf = "leaf" + std::to_string(leaf_of(number));
      report.hosts.push_back(std::move(host));
    }
  }

  std::uint32_t leaf_of(HostIndex host) const { return host / options_.hosts_per_leaf; }

  // Planned rounds, then retests of what is suspect, then the judgement.
  Report& run() {
    measure_planned();
    if (options_.retest) measure_again();
    judge(&report);
    return report;
  }

  void measure_planned() {
    std::vector<std::uint32_t> leaves;
    for (HostIndex host = 0; host < options_.hosts; ++host) leaves.push_back(leaf_of(host));
    const Schedule schedule(
        options_.pattern,
        {.hosts = options_.hosts,
         .leaves = options_.leaves_known ? leaves : std::vector<std::uint32_t>{},
         .most_rounds = options_.rounds,
         .least_rounds = 8,
         .rails = options_.rails},
        options_.seed);
    report.rounds_planned = report.rounds_done = schedule.rounds();
    for (std::uint32_t number = 0; number < schedule.rounds(); ++number) {
      measure(schedule.round(number));
    }
  }
  void measure_again() {
    const Suspicion suspicion = suspect(report);
    RetestPlan plan{.suspects = suspicion.hosts,
                    .pairs = suspicion.pairs,
                    .good = suspicion.good,
                    .first_number = report.rounds_planned};
    for (const Round& round : retest_rounds(plan, options_.seed)) {
      measure(round);
      ++report.retest_rounds;
    }
  }

  Report report;
  std::vector<InjectedFault> faults;

 private:
  // The same path each time, as with ECMP, which hashes addresses and ports.
  std::uint32_t uplink_of(const Measurement& m) const {
    Random hash((std::uint64_t{m.from} << 40) ^ (std::uint64_t{m.to} << 16) ^ m.rail);
    return static_cast<std::uint32_t>(hash.below(options_.uplinks));
  }

  double uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) * 0x1.0p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * 3.14159265358979 * uniform());
  }
  // Student's t with three degrees of freedom; and in one of 200 transfers, something else was
  // going on.
  double factor() {
    double squares = 0;
    for (int degree = 0; degree < 3; ++degree) {
      const double value = normal();
      squares += value * value;
    }
    double factor = 1 - std::abs(options_.noise * normal() / std::sqrt(squares / 3));
    if (random_.below(200) == 0) factor *= 0.5 + uniform() / 2;
    return std::max(factor, 0.05);
  }

  void measure(const Round& round) {
    for (const Edge& edge : round.edges) {
      const Host &from = report.hosts[edge.from], &to = report.hosts[edge.to];
      const auto lost = [&](const Host& host) {
        return host.state != HostState::kThere && round.number >= host.lost_in;
      };
      const auto gone = [&](const Host& host) {
        return host.state != HostState::kThere &&
               (host.state == HostState::kNeverCame || round.number > host.lost_in);
      };
      if (gone(from) || gone(to)) continue;
      for (std::uint16_t rail = 0; rail < options_.rails; ++rail) {
        Measurement m{.from = edge.from,
                      .to = edge.to,
                      .round = round.number,
                      .rail = rail,
                      .far_rail = rail,
                      .outcome = Outcome::kProved,
                      .is_retest = round.is_retest};
        if (lost(from) || lost(to)) {
          m.outcome = Outcome::kAbandoned;
        } else {
          const double link =
              std::min(from.rails[rail].link_bits_per_second, to.rails[rail].link_bits_per_second);
          const bool far = leaf_of(edge.from) != leaf_of(edge.to);
          m.bytes_per_second = static_cast<float>(options_.reached * link / 8 * factor());
          m.latency = static_cast<float>((far ? 3200 : 2100) / factor());
          for (const InjectedFault& fault : faults) {
            fault({&m, leaf_of(edge.from), leaf_of(edge.to), uplink_of(m), &random_});
          }
          if (m.outcome == Outcome::kFailed) m.bytes_per_second = m.latency = 0;
        }
        report.measurements.push_back(m);
      }
    }
  }

  FabricOptions options_;
  Random random_;
};

}  // namespace gdr::fabric
