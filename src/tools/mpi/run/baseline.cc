#include "mpi/run/baseline.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "perf/plan.h"
#include "perf/run.h"

namespace gdr::mpi_run {
namespace {

constexpr std::uint32_t kSlices = 5;
// So small a share of what was sent is chatter, and no use of a NIC.
constexpr double kChatter = 0.05;
// How long the other side may take to listen.
constexpr Nanoseconds kServerPatience = 20 * kSecond;
constexpr Nanoseconds kSlice = 30 * kMillisecond, kWarmUp = 20 * kMillisecond;

perf::Options options_for(const BaselineWishes& wishes, bool both_ways) {
  perf::Options options;
  if (!wishes.near.empty()) options.nics = {wishes.near};
  if (!wishes.far.empty() && wishes.server.empty()) options.peer_nics = {wishes.far};
  options.libraries.soft = wishes.soft_nic && (wishes.soft_gpu || !wishes.gpu);
  options.wishes.sizes = wishes.sizes;
  options.wishes.measures = {perf::Measure::kBandwidth};
  if (!both_ways) options.wishes.measures.push_back(perf::Measure::kLatency);
  using Kind = perf::Place::Kind;
  if (wishes.host) options.wishes.near.push_back({Kind::kHost, 0});
  if (wishes.gpu) {
    options.wishes.near.push_back({Kind::kGpu, perf::kChosenGpu});
    if (!both_ways) options.wishes.near.push_back({Kind::kStaged, perf::kChosenGpu});
  }
  options.wishes.load.both_ways = both_ways;
  options.wishes.timing.slices = kSlices;
  options.wishes.timing.slice_nanoseconds = kSlice;
  options.wishes.timing.warm_up_nanoseconds = kWarmUp;
  options.host = wishes.server;
  if (!wishes.secret.empty()) options.secret_file = wishes.secret;
  options.version = wishes.version;
  options.command = "gdr mpi run";
  return options;
}

Memory memory_of(const perf::Place& place) {
  if (place.kind == perf::Place::Kind::kStaged) return Memory::kStaged;
  return place.is_gpu() ? Memory::kGpu : Memory::kHost;
}

void take(const perf::Report& measured, Baseline& baseline) {
  constexpr double kNanosecond = 1e-9;
  if (!measured.near.ports.empty()) baseline.near = measured.near.ports.front().text();
  if (!measured.far.ports.empty()) baseline.far = measured.far.ports.front().text();
  for (const perf::Row& row : measured.rows) {
    Baseline::Row taken{Measure::kLatency, memory_of(row.load.near), row.load.size, 0};
    if (row.latency) {
      taken.value = row.latency->median.median * kNanosecond;
    } else if (row.bandwidth) {
      taken.measure = row.load.both_ways ? Measure::kBidirectional : Measure::kBandwidth;
      taken.value = row.bandwidth->median;
    } else {
      if (baseline.problem.empty()) baseline.problem = row.problem;
      continue;
    }
    baseline.rows.push_back(taken);
  }
}

// A server that the launcher has just started does not listen yet.
Result<perf::Report> run_perf(const perf::Options& options, const std::atomic<bool>& interrupted) {
  perf::Listener silent;
  const Nanoseconds deadline = now() + kServerPatience;
  for (;;) {
    Result<perf::Report> measured = perf::run(options, silent, interrupted);
    if (measured || measured.error().code != ECONNREFUSED || now() >= deadline) return measured;
    usleep(100000);
  }
}

// The name with the most bytes.
std::string most(const std::map<std::string, std::uint64_t>& bytes) {
  const auto best = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == bytes.end() || best->second == 0 ? "" : best->first;
}

}  // namespace

Baseline measure_baseline(const BaselineWishes& wishes, const std::atomic<bool>& interrupted) {
  Baseline baseline{wishes.near, wishes.far, {}, ""};
  for (const bool both_ways : {false, true}) {
    const Result<perf::Report> measured = run_perf(options_for(wishes, both_ways), interrupted);
    if (!measured) {
      baseline.problem = measured.error().message;
      return baseline;
    }
    take(*measured, baseline);
  }
  return baseline;
}

UsedNics used_nics(const Program& program) {
  std::map<std::string, std::uint64_t> out, in;
  std::uint64_t sent = 0;
  for (const Row& row : program.rows) {
    if (!row.moved || !is_of_one_pair(row.measure)) continue;
    sent += row.sent;
    for (const auto& [name, port] : row.moved->nics) {
      out[name] += port.out;
      in[name] += port.in;
    }
  }
  UsedNics used{most(out), most(in)};
  if (used.near.empty() ||
      static_cast<double>(out[used.near]) < kChatter * static_cast<double>(sent)) {
    return {};
  }
  // Two NICs that carry both directions are near and far of each other.
  for (const auto& [name, bytes] : out) {
    if (name != used.near && bytes * 2 > out[used.near]) used.far = name;
  }
  return used;
}

Result<void> serve_baseline(const BaselineWishes& wishes, const std::atomic<bool>& interrupted) {
  perf::Options options = options_for(wishes, false);
  options.host.clear();
  options.listen_address = "any";
  options.nics.clear();
  if (!wishes.far.empty()) options.nics = {wishes.far};
  return perf::serve(
      options, [](const std::string&) {}, interrupted);
}

std::string baseline_line(const Baseline& baseline) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Baseline::Row& row : baseline.rows) {
    rows.push_back({name_of(row.measure), name_of(row.memory), row.size, row.value});
  }
  return nlohmann::ordered_json{{"near", baseline.near},
                                {"far", baseline.far},
                                {"problem", baseline.problem},
                                {"gdr_perf", rows}}
      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<Baseline> read_baseline(std::string_view line) {
  const std::size_t begin = line.find("{\"");
  if (begin == std::string_view::npos) return Error{EBADMSG, "no JSON"};
  const nlohmann::json document = nlohmann::json::parse(line.substr(begin), nullptr, false);
  try {
    Baseline baseline{document.at("near").get<std::string>(),
                      document.at("far").get<std::string>(),
                      {},
                      document.at("problem").get<std::string>()};
    for (const nlohmann::json& row : document.at("gdr_perf")) {
      const auto measure = measure_named(row.at(0).get<std::string>());
      const auto memory = memory_named(row.at(1).get<std::string>());
      if (!measure || !memory) return Error{EBADMSG, "a row of another gdr"};
      baseline.rows.push_back(
          {*measure, *memory, row.at(2).get<std::uint64_t>(), row.at(3).get<double>()});
    }
    return baseline;
  } catch (const nlohmann::json::exception& error) {
    return Error{EBADMSG, error.what()};
  }
}

UsedNics used_nics_of_two_hosts(const Program& program) {
  if (program.hosts.size() < 2) return {};
  std::map<std::string, std::uint64_t> bytes[2];
  std::uint64_t sent = 0;
  for (const Row& row : program.rows) {
    if (!row.moved || !is_of_one_pair(row.measure)) continue;
    sent += row.sent;
    for (const auto& [name, port] : row.moved->nics) {
      // "node1/4026531840: mlx5_0"
      const std::string host = name.substr(0, name.find_first_of("/:"));
      const std::string nic = name.substr(name.rfind(' ') + 1);
      for (std::size_t i = 0; i < 2; ++i) {
        if (host == program.hosts[i]) bytes[i][nic] += port.out + port.in;
      }
    }
  }
  UsedNics used{most(bytes[0]), most(bytes[1])};
  if (used.near.empty() || used.far.empty()) return {};
  if (static_cast<double>(bytes[0][used.near]) < kChatter * static_cast<double>(sent)) return {};
  return used;
}

}  // namespace gdr::mpi_run
