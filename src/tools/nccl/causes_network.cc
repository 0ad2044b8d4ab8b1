#include <fmt/format.h>

#include "nccl/causes.h"

namespace gdr::nccl {
namespace {

// Sockets took the place of InfiniBand or RoCE; or nothing is connected and they would.
bool on_sockets(const Case& found) {
  return found.counts.socket > 0 ||
         (found.counts.network == 0 && !found.log.networks.contains("IB"));
}

bool is_on(const Setting* setting) {
  return setting != nullptr && !setting->value.empty() && setting->value != "0";
}

std::optional<Cause> inside_one_host(const Case& found) {
  if (found.verdict != Verdict::kNoNetwork) return std::nullopt;
  return Cause{
      "inside_host", "no connection uses a network: P2P and shared memory reach every peer",
      std::nullopt, text::Command("NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1"),
      "makes ranks of one host use the NIC, for a test; if no network is expected: --expect local"};
}

std::optional<Cause> one_rank(const Case& found) {
  if (found.verdict != Verdict::kNoConnections || found.log.ranks != 1) return std::nullopt;
  return Cause{"one_rank", "the communicator has one rank, which needs no connection", std::nullopt,
               text::Command("mpirun -n 2 PROGRAM"), ""};
}

std::optional<Cause> ib_disabled(const Case& found) {
  const Setting* setting = found.log.setting("NCCL_IB_DISABLE");
  if (!is_on(setting) || !on_sockets(found)) return std::nullopt;
  return Cause{"ib_disabled", "the environment switches InfiniBand and RoCE off", setting->evidence,
               text::Command("unset NCCL_IB_DISABLE"), ""};
}

std::optional<Cause> no_library(const Case& found) {
  const auto& evidence = found.log.fact(Fact::kNoLibrary);
  if (!evidence || !on_sockets(found)) return std::nullopt;
  return Cause{"no_libibverbs", "NCCL could not load libibverbs.so.1, so it has no RDMA", evidence,
               text::Command("sudo apt install libibverbs1 ibverbs-providers"),
               "in a container, install them in its image"};
}

std::optional<Cause> no_ip_interface(const Case& found) {
  const auto& evidence = found.log.fact(Fact::kNoIpInterface);
  if (!evidence) return std::nullopt;
  return Cause{"no_ip_interface",
               "NCCL found no IP interface for its own connections, which it needs even for IB",
               evidence, text::Command("NCCL_SOCKET_IFNAME=INTERFACE"),
               "one of those that ip addr lists"};
}

std::optional<Cause> no_device(const Case& found) {
  const auto& evidence = found.log.fact(Fact::kNoIbDevice);
  if (!evidence || found.log.fact(Fact::kNoLibrary) || !on_sockets(found)) return std::nullopt;
  if (is_on(found.log.setting("NCCL_IB_DISABLE"))) return std::nullopt;
  if (const Setting* chosen = found.log.setting("NCCL_IB_HCA")) {
    return Cause{"ib_hca", "NCCL_IB_HCA allows none of the RDMA NICs", chosen->evidence,
                 text::Command("unset NCCL_IB_HCA"), "ibv_devices lists the names"};
  }
  return Cause{"no_ib_device", "NCCL sees no RDMA NIC with an active port", evidence,
               text::Command("ibv_devinfo"),
               "if the host shows an active port, start the container with "
               "--device=/dev/infiniband and --ulimit memlock=-1"};
}

std::optional<Cause> network_missing(const Case& found) {
  const auto& evidence = found.log.fact(Fact::kNetworkMissing);
  if (!evidence) return std::nullopt;
  return Cause{"network_missing", "the network that NCCL was told to use does not exist", evidence,
               text::Command("unset NCCL_NET NCCL_NET_PLUGIN"), ""};
}

// NICs that are in no PCI tree, as in virtual machines and containers, and a software NIC's.
std::optional<Cause> no_path(const Case& found) {
  const auto& evidence = found.log.fact(Fact::kNoPathToNic);
  if (!evidence || found.counts.network > 0) return std::nullopt;
  return Cause{"no_path", "NCCL found no path from a GPU to a NIC: it does not see where they are",
               evidence, text::Command("NCCL_TOPO_FILE=FILE"),
               "a file that places NICs and GPUs: gdr run sets one for the software NIC; cloud "
               "providers supply one for their machines"};
}

// NCCL logs no word about NCCL_NET; that it never looked for IB gives it away.
std::optional<Cause> sockets_chosen(const Case& found) {
  const Log& log = found.log;
  if (!on_sockets(found) || !log.networks.contains("Socket")) return std::nullopt;
  if (is_on(log.setting("NCCL_IB_DISABLE")) || log.fact(Fact::kNoLibrary) ||
      log.fact(Fact::kNoIbDevice) || log.fact(Fact::kNoIpInterface)) {
    return std::nullopt;
  }
  if (log.fact(Fact::kIbFound)) {
    return Cause{"sockets_chosen", "NCCL found the RDMA NIC but uses sockets",
                 log.fact(Fact::kIbFound), text::Command("unset NCCL_NET"),
                 "every rank must see an RDMA NIC"};
  }
  return Cause{"sockets_chosen", "NCCL uses sockets and did not look for an RDMA NIC",
               log.fact(Fact::kIbFailed), text::Command("unset NCCL_NET NCCL_IB_DISABLE"), ""};
}

std::optional<Cause> plugin(const Case& found) {
  if (found.counts.plain_plugin == 0) return std::nullopt;
  for (const auto& [connection, times] : found.log.connections) {
    if (!is_network(connection) || connection.gdrdma || is_ib(connection)) continue;
    if (connection.kind == "Socket") continue;
    Cause cause{
        "plugin",
        fmt::format("NCCL uses the network plugin '{}', which does not support GPU memory",
                    connection.kind),
        std::nullopt, text::Command("NCCL_NET_PLUGIN=none"),
        "uses NCCL's own IB instead; before NCCL 2.11, remove the plugin from LD_LIBRARY_PATH"};
    if (connection.kind.find("Libfabric") != std::string::npos) {
      cause.next = text::Command("FI_EFA_USE_DEVICE_RDMA=1");
      cause.note = "for EFA on p4d and later instances; older ones have no GPUDirect RDMA";
    }
    return cause;
  }
  return std::nullopt;
}

constexpr FindCause kTable[] = {one_rank,  inside_one_host, ib_disabled,     no_library,
                                no_device, no_ip_interface, network_missing, sockets_chosen,
                                plugin,    no_path};

}  // namespace

std::span<const FindCause> network_causes() { return kTable; }

}  // namespace gdr::nccl
