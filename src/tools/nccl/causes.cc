#include "nccl/causes.h"

#include <fmt/format.h>

namespace gdr::nccl {
namespace {

void add(std::span<const FindCause> table, const Case& found, std::vector<Cause>& causes) {
  for (const FindCause find : table) {
    if (std::optional<Cause> cause = find(found)) causes.push_back(*std::move(cause));
  }
}

std::optional<Cause> registration(const Case& found) {
  const auto& evidence = found.log.fact(Fact::kRegistration);
  if (!evidence) return std::nullopt;
  Cause cause{"registration", "the NIC could not register memory", evidence, {}, ""};
  if (evidence->text.find("Cannot allocate memory") != std::string::npos) {
    cause.what += ": the limit of locked memory is too low, or the GPU's BAR1 window is full";
    cause.next = text::Command("ulimit -l unlimited");
    cause.note = "for services and batch systems: LimitMEMLOCK=infinity, and a new login";
  } else if (evidence->text.find("Bad address") != std::string::npos) {
    cause.what += ": no peer-memory module handles this GPU address";
    cause.next = text::Command("sudo modprobe nvidia-peermem");
  } else {
    cause.next = text::Command("gdr prove --require-hardware");
    cause.note = "tries each way of registration";
  }
  return cause;
}

std::optional<Cause> queue_pair(const Case& found) {
  const auto& modify = found.log.fact(Fact::kModifyQp);
  const auto& evidence = modify ? modify : found.log.fact(Fact::kGidUnreadable);
  if (!evidence) return std::nullopt;
  Cause cause{
      "gid", "the NIC could not connect: its GID has no route to the peer, or the port is down",
      evidence, text::Command("show_gids"),
      "NCCL_IB_GID_INDEX=<index of a RoCE v2 GID with an IP address that the peer reaches>"};
  const Setting* index = found.log.setting("NCCL_IB_GID_INDEX");
  // Since 2.21 NCCL looks for a RoCE v2 GID by itself.
  if (index != nullptr && !found.log.version.before(21)) {
    cause.what += fmt::format("; the environment sets NCCL_IB_GID_INDEX={}", index->value);
    cause.next = text::Command("unset NCCL_IB_GID_INDEX");
    cause.note = "show_gids lists the NIC's GIDs";
  }
  return cause;
}

std::optional<Cause> completion(const Case& found) {
  const auto& evidence = found.log.fact(Fact::kCompletion);
  if (!evidence) return std::nullopt;
  const std::string& text = evidence->text;
  const bool timeout = text.find("error 12") != std::string::npos ||
                       text.find("status=12") != std::string::npos ||
                       text.find("RETRY_EXC") != std::string::npos;
  if (timeout) {
    return Cause{"unreachable",
                 "the NICs connected, but then the peer's NIC never answered: wrong GID, no route "
                 "between these two NICs, or the peer died",
                 evidence, text::Command("show_gids"),
                 "run ib_write_bw between the same two NICs to rule out NCCL"};
  }
  return Cause{"completion", "a transfer failed in the NIC", evidence,
               text::Command("gdr prove --require-hardware"),
               "repeats the transfers one by one and checks every byte"};
}

constexpr FindCause kErrors[] = {registration, queue_pair, completion};

}  // namespace

text::Command debug_settings() {
  return text::Command("NCCL_DEBUG={} NCCL_DEBUG_SUBSYS={}", kDebugLevel, kDebugSubsystems);
}

std::vector<Cause> causes_of_absence(const Case& found) {
  std::vector<Cause> causes;
  add(network_causes(), found, causes);
  add(gdr_causes(), found, causes);
  // What is missing in the log matters only where what is there explains nothing.
  if (causes.empty()) add(log_causes(), found, causes);
  return causes;
}

std::vector<Cause> causes_of_network(const Case& found) {
  if (found.verdict == Verdict::kNoConnections) return causes_of_absence(found);
  return {
      {"network_used", "connections go over a network", std::nullopt,
       text::Command("nvidia-smi topo -m"),
       "within a host NCCL prefers P2P and shared memory unless NCCL_P2P_DISABLE, NCCL_P2P_LEVEL "
       "or NCCL_SHM_DISABLE forbid them; between hosts it always uses the network"}};
}

std::vector<Cause> errors_of(const Case& found) {
  std::vector<Cause> causes;
  add(kErrors, found, causes);
  return causes;
}

}  // namespace gdr::nccl
