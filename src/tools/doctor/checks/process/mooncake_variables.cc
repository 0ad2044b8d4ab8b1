// MC_*: do they leave Mooncake's transfer engine the NICs and the way of registration?
#include <algorithm>
#include <charconv>

#include "doctor/checks/all.h"
#include "doctor/checks/process/variables.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace mooncake_variables_check {

constexpr const char* kExplanation =
    "Mooncake's transfer engine obeys variables that begin with MC_. MC_FORCE_TCP and "
    "MC_FORCE_MNNVL count with any value, even 0: they replace RDMA with TCP, or with NVLink "
    "between hosts. MC_GID_INDEX names the RoCE GID (else NCCL_IB_GID_INDEX does), MC_IB_PORT the "
    "port, MC_MS_FILTERS the NICs. WITH_NVIDIA_PEERMEM=1 registers GPU memory through "
    "nvidia-peermem instead of dma-buf. Source: Mooncake's "
    "docs/source/design/transfer-engine/index.md, and config.cpp and transfer_engine_impl.cpp. The "
    "check sees the environment of gdr itself, which may differ from a job's.";

void judge_transport(const Host& host, Findings& findings) {
  for (const auto& [name, transport] :
       {std::pair("MC_FORCE_TCP", "TCP"), std::pair("MC_FORCE_MNNVL", "NVLink between hosts")}) {
    const std::string* value = value_of(host, name);
    if (value == nullptr) continue;
    findings.push_back(wrong_variable(name, *value, std::string(name) + " is set",
                                      "Mooncake takes " + std::string(transport) +
                                          " instead of an RDMA NIC, whatever the value is."));
  }
}

void judge_port(const Host& host, Findings& findings) {
  const std::string* value = value_of(host, "MC_IB_PORT");
  if (value == nullptr || host.inventory.nics.empty()) return;
  unsigned number = 0;
  const auto read = std::from_chars(value->data(), value->data() + value->size(), number);
  if (read.ec != std::errc()) return;
  const bool any = std::any_of(
      host.inventory.nics.begin(), host.inventory.nics.end(), [&](const host::Nic& nic) {
        return std::any_of(nic.ports.begin(), nic.ports.end(),
                           [&](const host::Port& port) { return port.number == number; });
      });
  if (any) return;
  findings.push_back(wrong_variable("MC_IB_PORT", *value,
                                    "MC_IB_PORT is " + *value + ", but no NIC here has that port",
                                    "Mooncake finds no active port on any NIC."));
}

void judge_registration(const Host& host, Findings& findings) {
  const std::string* value = value_of(host, "WITH_NVIDIA_PEERMEM");
  if (value == nullptr || (*value != "1" && *value != "ON" && *value != "TRUE")) return;
  if (host.inventory.gpus.empty() || find_ways(host).peer_memory) return;
  findings.push_back(wrong_variable(
      "WITH_NVIDIA_PEERMEM", *value,
      "WITH_NVIDIA_PEERMEM is " + *value + ", but no peer-memory module is loaded",
      "Mooncake registers GPU memory by its address, which fails with 'Bad address'."));
}

Findings find(const Host& host) {
  Evidences evidence = variables_with(host, "MC_");
  for (Evidence& one : variables_with(host, "WITH_NVIDIA_PEERMEM")) {
    evidence.push_back(std::move(one));
  }
  if (evidence.empty()) return does_not_apply("no variable of Mooncake is set");
  Findings findings;
  judge_transport(host, findings);
  judge_gid_index(host, "MC_GID_INDEX", "Mooncake", findings);
  judge_port(host, findings);
  judge_nic_list(host, "MC_MS_FILTERS", "Mooncake", findings);
  judge_registration(host, findings);
  if (!findings.empty()) return findings;
  return {ok("", "no variable of Mooncake disables a NIC or a registration", std::move(evidence))};
}

}  // namespace mooncake_variables_check

const Check kMooncakeVariables{"mooncake-variables",
                               Area::kProcess,
                               "Variables that Mooncake obeys",
                               mooncake_variables_check::kExplanation,
                               63,
                               Cost::kPassive,
                               mooncake_variables_check::find};

}  // namespace gdr::doctor
