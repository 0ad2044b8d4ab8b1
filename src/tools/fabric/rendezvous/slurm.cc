#include "fabric/rendezvous/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/environment.h"
#include "fabric/host_list.h"

namespace gdr::fabric {
namespace {

// Batch scripts, the shells of salloc and the like are steps with numbers from here on.
constexpr std::uint64_t kFirstSpecialStep = 0xfffffff0;
constexpr std::uint64_t kMostRanks = 1 << 20;

Error unusable(const char* name, const std::string& found) {
  return Error{EINVAL, fmt::format("{}: {}, so the ranks of this Slurm step cannot find each "
                                   "other; try srun --mpi=pmix, or --hosts",
                                   name, found)};
}

Result<std::uint64_t> number(const Environment& environment, const char* name, std::uint64_t most) {
  const std::optional<std::string> text = environment(name);
  if (!text) return unusable(name, "not set");
  const Result<std::uint64_t> value = parse_number(*text, 0, most);
  if (!value) return unusable(name, "'" + *text + "' is no number that is possible here");
  return *value;
}

// Ranks are in the order of nodes but with --distribution=cyclic and the like. Which is used no
// variable tells, so a rank's own node is the one that can be compared.
std::vector<Expected> in_blocks(const std::vector<std::string>& hosts,
                                const std::vector<std::uint32_t>& tasks) {
  std::vector<Expected> expected;
  for (std::uint32_t node = 0; node < tasks.size(); ++node) {
    for (std::uint32_t task = 0; task < tasks[node]; ++task) {
      expected.push_back({static_cast<std::uint32_t>(expected.size()), node, hosts[node]});
    }
  }
  return expected;
}

std::vector<Expected> in_cycles(const std::vector<std::string>& hosts,
                                std::vector<std::uint32_t> tasks) {
  std::vector<Expected> expected;
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (std::uint32_t node = 0; node < tasks.size(); ++node) {
      if (tasks[node] == 0) continue;
      --tasks[node];
      is_done = false;
      expected.push_back({static_cast<std::uint32_t>(expected.size()), node, hosts[node]});
    }
  }
  return expected;
}

// Slurm's default is blocks, or cycles where every node has less tasks than processors and the step
// names nodes and tasks; SLURM_GTIDS has the ranks of this node.
std::vector<Expected> expected_ranks(const Environment& environment,
                                     const std::vector<std::string>& hosts,
                                     const std::vector<std::uint32_t>& tasks, std::uint32_t node) {
  std::vector<Expected> blocks = in_blocks(hosts, tasks);
  const std::optional<std::string> here = environment("SLURM_GTIDS");
  if (!here) return blocks;
  for (const std::string_view text : split(*here, ',')) {
    const Result<std::uint64_t> rank = parse_number(text, 0, blocks.size() - 1);
    if (rank && blocks[*rank].node != node) return in_cycles(hosts, tasks);
  }
  return blocks;
}

// "12000-12003,12007", of which the first few are used.
Result<std::vector<std::uint16_t>> reserved_ports(const std::string& list) {
  const Error malformed = unusable("SLURM_STEP_RESV_PORTS", "'" + list + "' is no list of ports");
  std::vector<std::uint16_t> ports;
  for (const std::string_view range : split(list, ',')) {
    const std::size_t dash = range.find('-');
    const Result<std::uint64_t> first = parse_number(range.substr(0, dash), 1, 65535);
    if (!first) return malformed;
    const Result<std::uint64_t> last = dash == std::string_view::npos
                                           ? first
                                           : parse_number(range.substr(dash + 1), *first, 65535);
    if (!last) return malformed;
    for (std::uint64_t port = *first; port <= *last && ports.size() < kSlurmChoices; ++port) {
      ports.push_back(static_cast<std::uint16_t>(port));
    }
  }
  return ports;
}

Result<std::vector<std::uint16_t>> ports_of(const Environment& environment, std::uint64_t job,
                                            std::uint64_t step) {
  if (const std::optional<std::string> reserved = environment("SLURM_STEP_RESV_PORTS")) {
    return reserved_ports(*reserved);
  }
  // Jobs that follow each other, and their first steps, get different ports.
  constexpr std::uint64_t kStepsApart = 16;
  std::vector<std::uint16_t> ports;
  for (std::uint32_t choice = 0; choice < kSlurmChoices; ++choice) {
    const std::uint64_t number = (job * kStepsApart + step) * kSlurmChoices + choice;
    ports.push_back(static_cast<std::uint16_t>(kFirstSlurmPort + number % kSlurmPorts));
  }
  return ports;
}

class SlurmRendezvous : public Rendezvous {
 public:
  SlurmRendezvous(SlurmStep step, std::optional<perf::Secret> secret)
      : Rendezvous(std::move(step.job)),
        place_(std::move(step.place)),
        secret_(std::move(secret)) {}

  Result<Invitation> publish(const Invitation& invitation) override {
    Result<std::unique_ptr<MeetingPoint>> opened = MeetingPoint::open(place_, invitation, secret_);
    if (!opened) return opened.error();
    point_ = *std::move(opened);
    return point_->told();
  }
  Result<Invitation> await(Nanoseconds timeout) override {
    return visit(place_, secret_, now() + timeout);
  }
  void finish() override { point_.reset(); }

 private:
  Place place_;
  std::optional<perf::Secret> secret_;
  std::unique_ptr<MeetingPoint> point_;
};

}  // namespace

bool is_slurm_step(const Environment& environment) {
  const std::optional<std::string> step = environment("SLURM_STEP_ID");
  if (!step || !environment("SLURM_PROCID")) return false;
  const Result<std::uint64_t> number = parse_number(*step, 0, 0xffffffff);
  return !number || *number < kFirstSpecialStep;
}

Result<std::vector<std::uint32_t>> tasks_per_node(std::string_view text) {
  const Error malformed{EINVAL, fmt::format("'{}' is not as in \"2,1(x3)\"", text)};
  std::vector<std::uint32_t> tasks;
  std::uint64_t total = 0;
  for (std::string_view part : split(text, ',')) {
    std::uint64_t times = 1;
    if (const std::size_t open = part.find("(x"); open != std::string_view::npos) {
      if (part.back() != ')') return malformed;
      const Result<std::uint64_t> repeated =
          parse_number(part.substr(open + 2, part.size() - open - 3), 1, kMostRanks);
      if (!repeated) return malformed;
      times = *repeated;
      part = part.substr(0, open);
    }
    const Result<std::uint64_t> count = parse_number(part, 0, kMostRanks);
    if (!count) return malformed;
    total += times * std::max<std::uint64_t>(*count, 1);
    if (total > kMostRanks) return malformed;
    tasks.insert(tasks.end(), times, static_cast<std::uint32_t>(*count));
  }
  return tasks;
}

Result<SlurmStep> slurm_step(const Environment& environment) {
  const Result<std::uint64_t> step = number(environment, "SLURM_STEP_ID", 0xffffffff);
  const Result<std::uint64_t> ranks = number(environment, "SLURM_NTASKS", kMostRanks);
  const Result<std::uint64_t> rank = number(environment, "SLURM_PROCID", kMostRanks);
  const Result<std::uint64_t> node = number(environment, "SLURM_NODEID", kMostRanks);
  for (const auto* value : {&step, &ranks, &rank, &node}) {
    if (!*value) return value->error();
  }
  // Only the step's own list: it can have fewer nodes than its job.
  const char* const kList = "SLURM_STEP_NODELIST";
  const std::optional<std::string> list = environment(kList);
  if (!list) return unusable(kList, "not set");
  const Result<std::vector<std::string>> hosts = expand_host_list(*list);
  if (!hosts) return unusable(kList, hosts.error().message);
  const char* const kTasks = "SLURM_STEP_TASKS_PER_NODE";
  const std::optional<std::string> text = environment(kTasks);
  if (!text) return unusable(kTasks, "not set");
  const Result<std::vector<std::uint32_t>> tasks = tasks_per_node(*text);
  if (!tasks) return unusable(kTasks, tasks.error().message);
  if (tasks->size() != hosts->size()) {
    return unusable(kTasks, fmt::format("'{}' is for {} nodes, and {} has {}", *text, tasks->size(),
                                        kList, hosts->size()));
  }
  if (std::accumulate(tasks->begin(), tasks->end(), std::uint64_t{0}) != *ranks ||
      *rank >= *ranks) {
    return unusable("SLURM_NTASKS", fmt::format("{} tasks, and {} is '{}', and this is task {}",
                                                *ranks, kTasks, *text, *rank));
  }
  const Result<std::uint64_t> id = number(environment, "SLURM_JOB_ID", 0xffffffff);
  if (!id) return id.error();
  Result<std::vector<std::uint16_t>> ports = ports_of(environment, *id, *step);
  if (!ports) return ports.error();
  SlurmStep found;
  found.job.rank = static_cast<std::uint32_t>(*rank);
  found.job.ranks = static_cast<std::uint32_t>(*ranks);
  found.job.launcher = "srun without PMIx";
  found.job.job_id = std::to_string(*id);
  found.job.expected =
      expected_ranks(environment, *hosts, *tasks, static_cast<std::uint32_t>(*node));
  found.place = {fmt::format("{}.{}", *id, *step), found.job.expected.front().host,
                 *std::move(ports)};
  return found;
}

std::unique_ptr<Rendezvous> join_slurm(SlurmStep step, std::optional<perf::Secret> secret) {
  return std::make_unique<SlurmRendezvous>(std::move(step), std::move(secret));
}

}  // namespace gdr::fabric
