#include "watching/usage.h"

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <algorithm>

#include "text/format.h"
#include "watching/report.h"

namespace gdr::watching {
namespace {

using text::plural;
using text::size_text;

// What the program had of RDMA in it, in the order in which one stands on the other.
std::string loaded_names(const Snapshot& calls, const std::map<pid_t, SeenProcess>& processes) {
  static constexpr std::pair<ledger::Library, const char*> kNames[] = {
      {ledger::kVerbs, "libibverbs"}, {ledger::kManager, "librdmacm"}, {ledger::kMlx5, "libmlx5"},
      {ledger::kUcx, "UCX"},          {ledger::kFabric, "libfabric"},  {ledger::kMpi, "MPI"},
      {ledger::kNccl, "NCCL"},        {ledger::kNvshmem, "NVSHMEM"},   {ledger::kCuda, "libcuda"}};
  std::string names;
  for (const auto& [library, name] : kNames) {
    if (had_library(calls, processes, library))
      names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

// Processes into which no library of anybody's is loaded, whatever the environment says.
std::string closed_to_libraries(const std::map<pid_t, SeenProcess>& processes) {
  std::string words;
  for (const auto& [pid, one] : processes) {
    if (one.libraries != 0 || one.program.empty()) continue;
    if (one.gained_rights) {
      return fmt::format(
          "; {} is set-user-ID or set-group-ID, so the loader ignored "
          "LD_LIBRARY_PATH",
          one.program);
    }
    if (one.readable && one.is_static) {
      words = fmt::format("; {} is statically linked", one.program);
    }
  }
  return words;
}

constexpr const char* kUnused = "this program did not use the software NIC: ";

bool any_shares_memory(const std::map<pid_t, SeenProcess>& processes) {
  return std::any_of(processes.begin(), processes.end(),
                     [](const auto& one) { return one.second.shares_ucx_memory; });
}

// What a peer writes or reads is not counted: queue pairs without bytes may have served it, but for
// those that were never ready to receive. UCX makes such to learn what a device can do.
bool may_have_served(const Snapshot& calls) {
  return calls.queue_pairs.size() < calls.made_queue_pairs ||
         std::any_of(calls.queue_pairs.begin(), calls.queue_pairs.end(),
                     [](const QueuePair& one) { return one.state >= IBV_QPS_RTR; });
}

constexpr const char* kNoInterface =
    "; libfabric looks for it behind network interfaces other than loopback, and none is up here; "
    "as root: ip link add rdma0 type veth peer name rdma1; ip address add 10.0.0.1/24 dev rdma0; "
    "ip link set rdma0 up";

std::string fabric_words(const Offered& offered, const Snapshot& calls) {
  if (offered.only_loopback) return kNoInterface;
  return opened_names(calls).empty()
             ? "; libfabric chose another provider (FI_LOG_LEVEL=info shows it)"
             : "; libfabric moved nothing over it (FI_LOG_LEVEL=info shows why)";
}

// What decided against it.
std::string chosen_instead(const Offered& offered, const Snapshot& calls,
                           const std::map<pid_t, SeenProcess>& processes) {
  const auto had = [&](ledger::Library one) { return had_library(calls, processes, one); };
  std::string words;
  if (had(ledger::kUcx) && any_shares_memory(processes)) {
    words =
        "; UCX chose shared memory, since the other process is on this host (UCX_TLS=rc chooses "
        "the software NIC)";
  } else if (had(ledger::kUcx)) {
    words = had(ledger::kUcxIb) ? "; UCX chose another transport (UCX_LOG_LEVEL=info shows it)"
                                : "; UCX was loaded without its InfiniBand part";
  } else if (had(ledger::kFabric)) {
    words = fabric_words(offered, calls);
  } else if (had(ledger::kNvshmem) && !offered.has_places) {
    words =
        "; NVSHMEM takes only NICs that have a place in the PCI tree "
        "(GDR_SOFT_DEVICES=soft0/pci=ADDRESS, docs/run.md)";
  } else if (had(ledger::kNccl)) {
    words = "; NCCL chose another network ('gdr nccl run' says why)";
  } else if (had(ledger::kMpi)) {
    words = "; MPI chose shared memory or TCP";
  }
  const bool tcp = std::any_of(processes.begin(), processes.end(),
                               [](const auto& one) { return one.second.connections > 0; });
  return tcp ? words + "; it had TCP connections open" : words;
}

std::string not_loaded(const Offered& offered, const Snapshot& calls,
                       const std::map<pid_t, SeenProcess>& processes) {
  if (offered.asks_netlink) {
    return kUnused + std::string(
                         "it asks the kernel by netlink, which knows no software NIC; 'ibstat' and "
                         "'ibv_devinfo' show it");
  }
  if (!had_library(calls, processes, ledger::kVerbs)) {
    return kUnused + std::string("it loaded no libibverbs") + closed_to_libraries(processes) +
           chosen_instead(offered, calls, processes);
  }
  return fmt::format("{}it loaded another libibverbs{}", kUnused,
                     offered.has_rpath ? " (DT_RPATH)"
                                       : " (by its full path, its own RPATH, or in a process that "
                                         "was started without LD_LIBRARY_PATH)");
}

std::string nic_words(const Offered& offered, const Snapshot& calls,
                      const std::map<pid_t, SeenProcess>& processes) {
  if (!had_library(calls, processes, ledger::kSoftNic)) {
    return not_loaded(offered, calls, processes);
  }
  const std::string names = opened_names(calls);
  if (names.empty()) {
    return fmt::format("{}it loaded {} and opened no device{}", kUnused,
                       loaded_names(calls, processes), chosen_instead(offered, calls, processes));
  }
  const std::string done =
      fmt::format("software NIC: opened {}, {}, {}; loaded {}", names,
                  plural(calls.made_queue_pairs, "queue pair"), size_text(calls.all().all()),
                  loaded_names(calls, processes));
  const bool ucx_shares =
      had_library(calls, processes, ledger::kUcx) && any_shares_memory(processes);
  if (calls.all().all() != 0) {
    return ucx_shares ? done +
                            "; UCX used shared memory as well, since the other process is on this "
                            "host (UCX_TLS=rc chooses the software NIC alone)"
                      : done;
  }
  // libfabric brings those up with which it learns what a device can do.
  const bool only_looked =
      !may_have_served(calls) || ucx_shares || had_library(calls, processes, ledger::kFabric);
  return only_looked ? done + chosen_instead(offered, calls, processes) : done;
}

}  // namespace

std::string usage_line(const Offered& offered, const Snapshot& calls,
                       const std::map<pid_t, SeenProcess>& processes) {
  std::string line;
  if (offered.soft_nic) line = nic_words(offered, calls, processes);
  if (offered.soft_gpu) {
    line += fmt::format("{}software GPU: {}", line.empty() ? "" : "; ",
                        had_library(calls, processes, ledger::kSoftGpu) ? "used" : "not used");
  }
  return line;
}

}  // namespace gdr::watching
