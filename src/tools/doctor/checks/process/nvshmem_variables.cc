// NVSHMEM_*: do they leave NVSHMEM (and DeepEP on it) the NICs and the way of registration?
#include <algorithm>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/checks/process/variables.h"
#include "doctor/checks/registration/ways.h"

namespace gdr::doctor {
namespace nvshmem_variables_check {

constexpr const char* kExplanation =
    "Variables configure NVSHMEM. NVSHMEM_REMOTE_TRANSPORT=none disables every network. "
    "NVSHMEM_HCA_LIST and NVSHMEM_HCA_PE_MAPPING name NICs, and count only with "
    "NVSHMEM_ENABLE_NIC_PE_MAPPING=1. NVSHMEM_HCA_PREFIX (mlx5) is the prefix of NIC names. "
    "NVSHMEM_IB_DISABLE_DMABUF=1 leaves peer memory as the only way of registration. "
    "NVSHMEM_IB_GID_INDEX names the RoCE GID. Source: NVSHMEM's documentation, Environment "
    "Variables, and env_defs.h of its sources (3.4). The check sees the environment of gdr itself, "
    "which may differ from a job's.";

bool is_on(const std::string* value) {
  return value != nullptr &&
         (*value == "1" || *value == "true" || *value == "yes" || *value == "on" || *value == "y");
}

void judge_transport(const Host& host, Findings& findings) {
  const std::string* value = value_of(host, "NVSHMEM_REMOTE_TRANSPORT");
  if (value == nullptr || *value != "none") return;
  findings.push_back(wrong_variable("NVSHMEM_REMOTE_TRANSPORT", *value,
                                    "NVSHMEM_REMOTE_TRANSPORT is none",
                                    "NVSHMEM reaches no other host."));
}

void judge_nics(const Host& host, Findings& findings) {
  const bool mapped = is_on(value_of(host, "NVSHMEM_ENABLE_NIC_PE_MAPPING"));
  for (const char* name : {"NVSHMEM_HCA_LIST", "NVSHMEM_HCA_PE_MAPPING"}) {
    const std::string* value = value_of(host, name);
    if (value == nullptr || value->empty()) continue;
    if (!mapped) {
      Finding finding = wrong_variable(
          name, *value, std::string(name) + " is set, but NVSHMEM_ENABLE_NIC_PE_MAPPING is not 1",
          "NVSHMEM ignores it and uses the nearest NIC of each GPU.");
      finding.fix = {to_type("export NVSHMEM_ENABLE_NIC_PE_MAPPING=1"),
                     to_do(std::string("set it wherever ") + name + " is set")};
      findings.push_back(std::move(finding));
    }
    judge_nic_list(host, name, "NVSHMEM", findings);
  }
}

void judge_prefix(const Host& host, Findings& findings) {
  const std::string* value = value_of(host, "NVSHMEM_HCA_PREFIX");
  if (value == nullptr || value->empty() || host.inventory.nics.empty()) return;
  const bool any =
      std::any_of(host.inventory.nics.begin(), host.inventory.nics.end(),
                  [&](const host::Nic& nic) { return nic.name.rfind(*value, 0) == 0; });
  if (any) return;
  findings.push_back(
      wrong_variable("NVSHMEM_HCA_PREFIX", *value,
                     "NVSHMEM_HCA_PREFIX is " + *value + ", but no RDMA device has this prefix",
                     "NVSHMEM finds no NIC."));
}

void judge_registration(const Host& host, Findings& findings) {
  const std::string* value = value_of(host, "NVSHMEM_IB_DISABLE_DMABUF");
  if (!is_on(value) || host.inventory.gpus.empty()) return;
  if (find_ways(host).peer_memory) return;
  findings.push_back(wrong_variable(
      "NVSHMEM_IB_DISABLE_DMABUF", *value,
      "NVSHMEM_IB_DISABLE_DMABUF is " + *value + ", but no peer-memory module is loaded",
      "NVSHMEM cannot register GPU memory with a NIC."));
}

Findings find(const Host& host) {
  Evidences evidence = variables_with(host, "NVSHMEM_");
  if (evidence.empty()) return does_not_apply("no variable of NVSHMEM is set");
  Findings findings;
  judge_transport(host, findings);
  judge_nics(host, findings);
  judge_prefix(host, findings);
  judge_gid_index(host, "NVSHMEM_IB_GID_INDEX", "NVSHMEM", findings);
  judge_registration(host, findings);
  if (!findings.empty()) return findings;
  return {ok("", "no variable of NVSHMEM disables a NIC or a registration", std::move(evidence))};
}

}  // namespace nvshmem_variables_check

const Check kNvshmemVariables{"nvshmem-variables",
                              Area::kProcess,
                              "Variables that NVSHMEM obeys",
                              nvshmem_variables_check::kExplanation,
                              62,
                              Cost::kPassive,
                              nvshmem_variables_check::find};

}  // namespace gdr::doctor
