#include "cli/complete_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "explain/symptom_table.h"
#include "fix/plan.h"
#include "host/files.h"
#include "host/hardware.h"
#include "proof/modes/mode.h"

namespace gdr::cli {
namespace {

using Candidates = std::vector<Candidate>;

Candidates colours() { return {{"auto", "in a terminal"}, {"always", ""}, {"never", ""}}; }

Candidates registrations() {
  return {{"dma-buf", ""}, {"peer-memory", "needs a peer-memory kernel module"}};
}

Candidates modes() {
  Candidates all;
  for (const proof::Mode* mode : proof::all_modes()) {
    all.push_back({std::string(mode->name), std::string(mode->title)});
  }
  return all;
}

Candidates proof_memories() {
  return {{"alloc", "GPU memory of cuMemAlloc"},
          {"vmm", "GPU memory of cuMemCreate"},
          {"host", "no GPU"}};
}

Candidates operations() {
  return {{"write", ""}, {"write-imm", ""}, {"read", ""},
          {"send", ""},  {"fetch-add", ""}, {"compare-swap", ""}};
}

Candidates measures() { return {{"bandwidth", ""}, {"latency", ""}, {"rate", ""}}; }

Candidates perf_memories() {
  return {{"host", ""},
          {"gpu", "GPU memory of cuMemAlloc"},
          {"gpu-vmm", "GPU memory of cuMemCreate"},
          {"staged", "GPU memory copied through host memory"},
          {"pinned", "host memory pinned by CUDA"}};
}

Candidates transports() { return {{"rc", ""}, {"uc", ""}, {"ud", ""}, {"xrc", ""}}; }

Candidates mtus() { return {{"256", ""}, {"512", ""}, {"1024", ""}, {"2048", ""}, {"4096", ""}}; }

Candidates checks() {
  Candidates all;
  for (const doctor::Check* check : doctor::all_checks()) all.push_back({check->id, check->title});
  return all;
}

Candidates formats() { return {{"text", ""}, {"prometheus", ""}}; }

Candidates symptoms() {
  Candidates all;
  for (const explain::Symptom& one : explain::SymptomTable::built_in().all()) {
    all.push_back({one.id, one.title});
  }
  return all;
}

Candidates topics() {
  Candidates all;
  for (const fix::Topic& topic : fix::all_topics()) all.push_back({topic.id, topic.title});
  return all;
}

Candidates presences() {
  return {{"namespace", "a mount namespace"},
          {"preload", "a preloaded library"},
          {"none", "not at all"},
          {"auto", "the first that can be had"}};
}

Candidates watch_expectations() {
  return {{"gdr", "directly into GPU memory"}, {"rdma", "over RDMA at all"}};
}

Candidates nccl_expectations() {
  return {{"gdrdma", "network connections, all with GPUDirect RDMA"},
          {"local", "no network connection"},
          {"any", "connections of any kind"}};
}

Candidates mpi_measures() {
  return {{"latency", ""},    {"bandwidth", ""},  {"bidirectional", ""},
          {"multi-pair", ""}, {"all-reduce", ""}, {"all-to-all", ""}};
}

Candidates mpi_memories() { return {{"host", ""}, {"gpu", ""}}; }

Candidates mpi_launchers() { return {{"mpirun", ""}, {"srun", ""}}; }

Candidates mpi_gpu_pointers() {
  return {{"auto", "if the MPI says that it takes them"}, {"yes", ""}, {"no", ""}};
}

Candidates fabric_patterns() {
  return {{"tournament", "each host with each other one"},
          {"shift", "each host sends to the one D places further on"},
          {"bisection", "one half with the other"},
          {"by-leaf", "under one leaf switch, then across leaves"}};
}

Candidates fabric_memories() { return {{"gpu", ""}, {"host", ""}}; }

Candidates kernels() {
  Candidates all;
  for (std::string& name : host::Files("/").entries("lib/modules")) {
    all.push_back({std::move(name), ""});
  }
  return all;
}

Candidates nics() { return nic_names("/"); }
Candidates gpus() { return gpu_names("/"); }

constexpr ListedValues kListed[] = {
    {"gdr prove", "--modes", true, modes},
    {"gdr prove", "--memory", false, proof_memories},
    {"gdr prove", "--registration", false, registrations},
    {"gdr prove", "--nic", false, nics},
    {"gdr prove", "--peer-nic", false, nics},
    {"gdr prove", "--gpu", false, gpus},
    {"gdr prove", "--from-gpu", false, gpus},
    {"gdr perf", "--operation", true, operations},
    {"gdr perf", "--measure", true, measures},
    {"gdr perf", "--memory", true, perf_memories},
    {"gdr perf", "--far-memory", true, perf_memories},
    {"gdr perf", "--transport", false, transports},
    {"gdr perf", "--registration", false, registrations},
    {"gdr perf", "--mtu", false, mtus},
    {"gdr perf", "--nic", true, nics},
    {"gdr perf", "--peer-nic", true, nics},
    {"gdr perf", "--gpu", false, gpus},
    {"gdr doctor", "--only", true, checks},
    {"gdr doctor", "--explain", false, checks},
    {"gdr doctor", "--format", false, formats},
    {"gdr explain", "--symptom", false, symptoms},
    {"gdr fix", "TOPIC", false, topics},
    {"gdr peermem status", "--kernel", false, kernels},
    {"gdr peermem build", "--kernel", false, kernels},
    {"gdr peermem install", "--kernel", false, kernels},
    {"gdr run", "--presence", false, presences},
    {"gdr watch", "--expect", false, watch_expectations},
    {"gdr nccl check", "--expect", false, nccl_expectations},
    {"gdr nccl run", "--expect", false, nccl_expectations},
    {"gdr fabric", "--pattern", false, fabric_patterns},
    {"gdr fabric", "--memory", false, fabric_memories},
    {"gdr fabric", "--nics", true, nics},
    {"gdr mpi run", "--measure", true, mpi_measures},
    {"gdr mpi run", "--memory", true, mpi_memories},
    {"gdr mpi run", "--launcher", false, mpi_launchers},
    {"gdr mpi run", "--gpu-pointers", false, mpi_gpu_pointers},
};

}  // namespace

Candidates nic_names(const std::string& root) {
  const host::Files files(root);
  Candidates all;
  for (const std::string& name : files.entries("sys/class/infiniband")) {
    if (!host::is_software_nic(files, name)) all.push_back({name, "RDMA NIC"});
  }
  if (!all.empty()) return all;
  const std::string given = environment("GDR_SOFT_DEVICES").value_or("soft0,soft1");
  for (std::string_view one : split(given, ',')) {
    all.push_back({std::string(one.substr(0, one.find('/'))), "software NIC"});
  }
  return all;
}

Candidates gpu_names(const std::string& root) {
  Candidates all;
  const std::vector<std::string> addresses = host::gpus(root);
  for (std::size_t i = 0; i < addresses.size(); ++i)
    all.push_back({std::to_string(i), addresses[i]});
  for (const std::string& address : addresses) all.push_back({address, "GPU"});
  if (!all.empty()) return all;
  constexpr int kMost = 64;
  const std::string given = environment("GDR_SOFT_GPUS").value_or("2");
  int count = 0;
  std::from_chars(given.data(), given.data() + given.size(), count);
  for (int i = 0; i < std::min(count, kMost); ++i) {
    all.push_back({std::to_string(i), "software GPU"});
  }
  return all;
}

const std::vector<ListedValues>& all_listed_values() {
  static const std::vector<ListedValues> all(std::begin(kListed), std::end(kListed));
  return all;
}

const ListedValues* find_values(const std::string& command, const std::string& option) {
  static constexpr ListedValues kColour = {"", "--color", false, colours};
  if (option == kColour.option) return &kColour;
  const auto* found = std::find_if(std::begin(kListed), std::end(kListed), [&](auto& one) {
    return command == one.command && option == one.option;
  });
  return found == std::end(kListed) ? nullptr : found;
}

}  // namespace gdr::cli
