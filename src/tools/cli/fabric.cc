// gdr fabric: its options. cli/fabric_run.cc carries it out.
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "base/environment.h"
#include "base/random.h"
#include "cli/command_line.h"
#include "cli/fabric_commands.h"
#include "cli/help.h"
#include "cli/perf_values.h"
#include "cli/server_options.h"
#include "cli/whole_io.h"

namespace gdr::cli {
namespace {

struct Values {
  FabricOptions fabric;
  std::string pattern, rounds, crossed, memory, topology, nics;
  std::string duration, message, proof, step_limit, join_limit;
  bool no_doctor = false;
};

fabric::Pattern read_pattern(const std::string& text) {
  using fabric::Pattern;
  for (const Pattern pattern :
       {Pattern::kTournament, Pattern::kShift, Pattern::kBisection, Pattern::kByLeaf}) {
    if (text == name_of(pattern)) return pattern;
  }
  throw CLI::ValidationError(
      fmt::format("unknown pattern '{}'; allowed: tournament, shift, bisection, by-leaf", text));
}

std::uint32_t read_count(const char* option, const std::string& text) {
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count > 1'000'000) {
    throw CLI::ValidationError(fmt::format("{} {}: it takes a number up to 1000000", option, text));
  }
  return count;
}

std::uint32_t read_milliseconds(const char* option, const std::string& text, std::uint64_t least,
                                std::uint64_t most) {
  const std::uint64_t milliseconds = read_nanoseconds(option, text) / kMillisecond;
  if (milliseconds < least || milliseconds > most) {
    throw CLI::ValidationError(fmt::format("{} {}: it takes {} ms to {} s, as in {} 2s", option,
                                           text, least, most / 1000, option));
  }
  return static_cast<std::uint32_t>(milliseconds);
}

std::uint64_t read_one_size(const char* option, const std::string& text) {
  constexpr std::uint64_t kMost = 1 << 30;
  std::vector<std::uint64_t> sizes;
  try {
    sizes = read_sizes(text);
  } catch (const CLI::ValidationError&) {
    // Its line names sizes of another option.
  }
  if (sizes.size() != 1 || sizes[0] == 0 || sizes[0] > kMost) {
    throw CLI::ValidationError(
        fmt::format("{} {}: it takes one size from 1 to 1G, as in {} 4M", option, text, option));
  }
  return sizes[0];
}

void read_settings(Values& values, fabric::Settings& settings) {
  if (settings.soft && settings.require_hardware) {
    refuse_together("--soft", "--require-hardware", "give one of them");
  }
  settings.seed = random_u64();
  settings.nics = read_names(values.nics);
  for (const std::string& nic : settings.nics) {
    if (nic.empty()) {
      throw CLI::ValidationError(
          fmt::format("--nics {}: a name is empty; as in --nics mlx5_0,mlx5_1:2", values.nics));
    }
  }
  if (!values.memory.empty() && values.memory != "host" && values.memory != "gpu") {
    throw CLI::ValidationError(
        fmt::format("unknown memory '{}'; allowed: gpu, host", values.memory));
  }
  settings.host_memory = values.memory == "host";
  if (!values.proof.empty()) settings.proof_bytes = read_one_size("--proof-size", values.proof);
  if (!values.message.empty()) {
    settings.message_bytes = read_one_size("--message-size", values.message);
  }
  if (!values.duration.empty()) {
    settings.bandwidth_milliseconds = read_milliseconds("--duration", values.duration, 1, 600'000);
    settings.latency_milliseconds = std::max(settings.bandwidth_milliseconds / 5, 1u);
  }
  settings.step_milliseconds =
      std::max(settings.step_milliseconds, 2 * settings.bandwidth_milliseconds + 5'000);
  if (!values.step_limit.empty()) {
    settings.step_milliseconds =
        read_milliseconds("--step-limit", values.step_limit, 100, 3'600'000);
  }
}

// What Slurm itself has; nothing where it has none.
void read_topology_of_slurm(fabric::TopologyTexts& texts) {
  const std::string config = environment("SLURM_CONF").value_or("/etc/slurm/slurm.conf");
  const std::string folder = config.substr(0, config.rfind('/') + 1);
  if (Result<std::string> text = read_file(folder + "topology.conf")) {
    texts.topology_conf = *std::move(text);
  }
  if (Result<std::string> text = read_file(folder + "topology.yaml")) {
    texts.topology_yaml = *std::move(text);
  }
}

void read_topology(const std::string& file, fabric::TopologyTexts& texts) {
  if (file.empty()) return read_topology_of_slurm(texts);
  Result<std::string> text = read_file(file);
  if (!text) throw CLI::ValidationError("--topology " + text.error().message);
  const bool is_ibnetdiscover = text->find("\nvendid=") != text->npos ||
                                text->find("# Topology file: generated") != text->npos;
  (is_ibnetdiscover                                    ? texts.ibnetdiscover
   : file.ends_with(".yaml") || file.ends_with(".yml") ? texts.topology_yaml
                                                       : texts.topology_conf) = *std::move(text);
}

void read_plan(Values& values, fabric::PlanOptions& plan) {
  if (!values.pattern.empty()) plan.pattern = read_pattern(values.pattern);
  if (values.rounds == "all") {
    plan.rounds = 0;
  } else if (!values.rounds.empty()) {
    plan.rounds = read_count("--rounds", values.rounds);
    if (*plan.rounds == 0) {
      throw CLI::ValidationError("--rounds 0: it takes a number from 1, or 'all'");
    }
  }
  if (!values.crossed.empty()) plan.crossed_rounds = read_count("--cross-rail", values.crossed);
  plan.seed = random_u64();
  read_topology(values.topology, plan.topology);
}

// How the processes are started: each option that would have no effect there is refused.
void check_start(const CLI::App& fabric, const FabricOptions& options) {
  constexpr std::uint32_t kMostLocal = 1'024;
  const auto is_given = [&](const char* option) { return fabric.count(option) != 0; };
  if (is_given("--local") && is_given("--hosts")) {
    refuse_together("--local", "--hosts", "give one of them");
  }
  if (is_given("--local") && (options.local < 2 || options.local > kMostLocal)) {
    throw CLI::ValidationError(fmt::format(
        "--local {}: it takes 2 to {} processes, as in --local 4", options.local, kMostLocal));
  }
  for (const char* option : {"--ssh", "--program"}) {
    if (!is_given(option) || is_given("--hosts")) continue;
    throw CLI::ValidationError(
        fmt::format("{} has no effect without --hosts; type: --hosts n[01-16]", option));
  }
  for (const char* option : {"--port", "--secret"}) {
    for (const char* start : {"--local", "--hosts"}) {
      if (is_given(option) && is_given(start)) {
        refuse_together(option, start, "without a launcher no member comes over a port");
      }
    }
  }
}

// Every value is judged here, so that wrong use costs nothing but its one line.
void read_values(const CLI::App& fabric, Values& values) {
  FabricOptions& options = values.fabric;
  check_start(fabric, options);
  fabric::CollectorOptions& collector = options.run.collector;
  read_settings(values, collector.settings);
  read_plan(values, options.run.plan);
  if (!values.join_limit.empty()) {
    collector.join_limit =
        read_milliseconds("--join-limit", values.join_limit, 100, 3'600'000) * kMillisecond;
  }
  collector.processes_as_hosts |= options.local != 0;
  collector.ask_doctor = !values.no_doctor;
}

// An option with a value, in the group that has begun.
struct Adder {
  CLI::App& command;
  template <typename Value>
  CLI::Option* operator()(const char* name, Value& value, const char* type,
                          const char* help) const {
    return command.add_option(name, value, help)->type_name(type);
  }
};

void add_host_options(CLI::App& fabric, Values& values) {
  FabricOptions& options = values.fabric;
  const Adder add{fabric};
  begin_group(fabric, "Hosts");
  add("--hosts", options.hosts, "LIST",
      "Start on these hosts with ssh: n[01-16],n20, or a file with one host per line (default: the "
      "hosts of the launcher that started gdr fabric)");
  add("--local", options.local, "N",
      "Start N processes on this host, each standing for a host, to try gdr fabric");
  fabric.add_flag("--processes-as-hosts", options.run.collector.processes_as_hosts,
                  "Count each process as a host of its own, with its share of the host's rails");
  add("--ssh", options.ssh, "COMMAND",
      "With --hosts: the remote shell and its options (default: ssh)");
  add("--program", options.program, "PATH",
      "With --hosts: where gdr is on the other hosts (default: where it is here)");
  add("--join-limit", values.join_limit, "TIME",
      "Time for all hosts to join; those that have not are named, and the others go on (default: "
      "60s)");
  add("--step-limit", values.step_limit, "TIME",
      "Time for each step of a round; a host that takes longer is named and left behind (default: "
      "10s, or more with --duration)");
  add("--secret", options.secret, "FILE",
      "For srun without PMIx, in place of MUNGE: a file that all ranks and nobody else can read; "
      "its text admits them to the run");
  add("--port", options.port, "PORT",
      "With a launcher: TCP port on which rank 0 collects (default: any free one)")
      ->check(CLI::Range(1, 65535));
}

void add_round_options(CLI::App& fabric, Values& values) {
  fabric::PlanOptions& plan = values.fabric.run.plan;
  const Adder add{fabric};
  begin_group(fabric, "Rounds");
  add("--pattern", values.pattern, "PATTERN",
      "tournament: each host with each other one; shift: in round D, each host sends to the one D "
      "places further on; bisection: one half with the other; by-leaf: pairs under one leaf "
      "switch, then across leaves (default: tournament)");
  add("--rounds", values.rounds, "N",
      "Take N rounds of the pattern, chosen at random, or 'all' (default: all for up to 128 hosts "
      "and at least 8, for more hosts 8)");
  fabric.add_flag("--isolate", plan.isolate, "Measure one rail at a time (default: all at once)");
  add("--cross-rail", values.crossed, "N",
      "Add N rounds in which each rail sends to another one (default: 1 if there are several)");
  add("--retests", plan.retests, "N",
      "Measure suspects N times again, with good hosts and nothing else on the fabric (default: "
      "3)");
  add("--topology", values.topology, "FILE",
      "Which host is at which leaf switch: Slurm's topology.conf or .yaml, or what ibnetdiscover "
      "printed (default: Slurm's own file, else what LLDP says, else by latency)");
  fabric.add_flag("--no-doctor", values.no_doctor, "Do not run gdr doctor on hosts that stand out");
}

void add_transfer_options(CLI::App& fabric, Values& values) {
  fabric::Settings& settings = values.fabric.run.collector.settings;
  const Adder add{fabric};
  begin_group(fabric, "Transfers");
  add("--nics", values.nics, "LIST",
      "NICs to use as rails, in this order: mlx5_0,mlx5_1:2 (default: those nearest to a GPU)");
  add("--memory", values.memory, "KIND",
      "Memory to send from and to: gpu or host (default: gpu, on hosts with GPUs)");
  add("--duration", values.duration, "TIME",
      "Length of each bandwidth measurement (default: 100ms)");
  add("--message-size", values.message, "SIZE",
      "Size of each write while bandwidth is measured (default: 1M)");
  add("--proof-size", values.proof, "SIZE",
      "Bytes that each transfer proves; all of them are compared (default: 4M)");
  fabric.add_flag("--require-hardware", settings.require_hardware,
                  "Leave out hosts that would use a stand-in");
  fabric.add_flag("--soft", settings.soft,
                  "Use the stand-ins (software NIC and GPU) even if there is hardware");
}

}  // namespace

void add_fabric(CLI::App& program, Action& chosen) {
  auto values = std::make_shared<Values>();
  CLI::App* fabric = program.add_subcommand(
      "fabric", "Prove and measure every rail between many hosts, and find the bad one");
  add_host_options(*fabric, *values);
  add_round_options(*fabric, *values);
  add_transfer_options(*fabric, *values);
  begin_group(*fabric, "Output");
  fabric->add_flag("--json", values->fabric.json, "Print one JSON document instead of text");
  values->fabric.report.add_to(*fabric,
                               ".json; .html, a page with a heatmap; .prom, for Prometheus; .txt");
  fabric
      ->add_option("--lines", values->fabric.lines,
                   "Write JSON lines to FILE as results come; a run that is killed keeps them")
      ->type_name("FILE");
  refuse_empty_values(*fabric);
  add_fabric_compare(*fabric, chosen);
  fabric->callback([values, fabric, &chosen] {
    if (!fabric->get_subcommands().empty()) return;
    read_values(*fabric, *values);
    chosen = [values] { return run_fabric(values->fabric); };
  });
  add_fabric_processes(program, chosen);
}

}  // namespace gdr::cli
