// Variables that switch GPUDirect RDMA off, or that name something missing.
#include "base/environment.h"

#include <algorithm>
#include <optional>
#include <set>

#include "doctor/checks/all.h"
#include "doctor/checks/process/variables.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/probe/cuda_facts.h"
#include "text/format.h"

namespace gdr::doctor {
namespace environment_check {

constexpr const char* kExplanation =
    "NCCL and UCX obey variables that people set once and forget. NCCL_NET_GDR_LEVEL=LOC, "
    "NCCL_NET_GDR_READ=0, NCCL_IB_DISABLE=1, NCCL_DMABUF_ENABLE=0 and UCX_IB_GPU_DIRECT_RDMA=no "
    "switch GPUDirect RDMA off in whole or in part. NCCL_IB_HCA, UCX_NET_DEVICES and "
    "NCCL_IB_GID_INDEX name NICs and GIDs. NCCL_TOPO_FILE names a topology file, whose PCI "
    "addresses should be this host's. The check sees the environment of gdr itself, which may "
    "differ from a job's. It also looks for gdrkit's stand-ins in LD_LIBRARY_PATH.";

struct Switch {
  const char* name;
  std::set<std::string> values;
  const char* consequence;
};

const std::vector<Switch>& switches() {
  static const std::vector<Switch> all = {
      {"NCCL_NET_GDR_LEVEL", {"LOC", "0"}, "NCCL does not use GPUDirect RDMA with any NIC."},
      {"NCCL_NET_GDR_READ", {"0"}, "NCCL sends from host memory."},
      {"NCCL_IB_DISABLE", {"1"}, "NCCL does not use any RDMA NIC."},
      {"NCCL_DMABUF_ENABLE", {"0"}, "NCCL registers GPU memory through peer memory only."},
      {"UCX_IB_GPU_DIRECT_RDMA", {"n", "no", "0"}, "UCX does not register GPU memory with NICs."}};
  return all;
}

bool has_nic(const Host& host, const std::string& name, bool exactly) {
  return std::any_of(host.inventory.nics.begin(), host.inventory.nics.end(),
                     [&](const host::Nic& nic) {
                       if (nic.name == name) return true;
                       return !exactly && nic.name.rfind(name, 0) == 0;
                     });
}

bool is_netdev(const Host& host, const std::string& name) {
  // A component of a path.
  return !name.empty() && name.find('/') == std::string::npos && name[0] != '.' &&
         host.files.exists("sys/class/net/" + name);
}

Finding about(const char* name, const std::string& value, const std::string& summary,
              const std::string& consequence) {
  return warn("", printable(summary), {{name, value}}, consequence,
              {to_type(text::Command("unset {}", name)),
               to_do("remove it from /etc/nccl.conf, ~/.nccl.conf, profiles and job scripts")});
}

void judge_lists(const Host& host, Findings& findings) {
  if (host.inventory.nics.empty()) return;
  for (const char* name : {"NCCL_IB_HCA", "UCX_NET_DEVICES"}) {
    const std::string* value = value_of(host, name);
    if (value == nullptr || value->empty() || *value == "all") continue;
    const bool ucx = name[0] == 'U';
    const bool exactly = ucx || value->starts_with('=') || value->starts_with("^=");
    for (const std::string& nic : nics_in(*value)) {
      if (nic == "all" || has_nic(host, nic, exactly)) continue;
      if (ucx && is_netdev(host, nic)) continue;
      findings.push_back(about(
          name, *value, std::string(name) + " names " + nic + ", but this host has no such NIC",
          "The program ignores it without an error."));
    }
  }
}

void judge_gid_index(const Host& host, Findings& findings) {
  const std::string* value = value_of(host, "NCCL_IB_GID_INDEX");
  if (value == nullptr) return;
  for (const MissingGid& missing : missing_gids(host, *value)) {
    findings.push_back(about(
        "NCCL_IB_GID_INDEX", *value, "NCCL_IB_GID_INDEX is " + *value + ", and " + missing.where,
        missing.is_there
            ? "RoCE v1 does not pass routers, and both sides must use the same version."
            : "NCCL cannot connect over this port."));
  }
}

void judge_topology_file(const Host& host, Findings& findings) {
  const std::string* value = value_of(host, "NCCL_TOPO_FILE");
  if (value == nullptr || value->empty() || (*value)[0] != '/' ||
      value->find("..") != std::string::npos || host.inventory.pci.empty()) {
    return;
  }
  const std::string path = value->substr(1);
  if (!host.files.exists(path)) {
    findings.push_back(about("NCCL_TOPO_FILE", *value,
                             "NCCL_TOPO_FILE is " + *value + ", but the file does not exist",
                             "NCCL uses the PCI tree of /sys."));
    return;
  }
  constexpr std::string_view kBus = "busid=\"";
  unsigned absent = 0, all = 0;
  std::string first;
  for (const std::string& line : host.files.lines_with(path, std::string(kBus))) {
    const auto begin = line.find(kBus) + kBus.size();
    const std::string address = line.substr(begin, line.find('"', begin) - begin);
    ++all;
    if (host.inventory.pci.find(address) != nullptr) continue;
    if (absent++ == 0) first = address;
  }
  if (absent == 0) return;
  findings.push_back(about("NCCL_TOPO_FILE", *value,
                           "NCCL_TOPO_FILE names " + std::to_string(absent) + " PCI addresses of " +
                               std::to_string(all) + " that this host lacks, as " + first,
                           "NCCL misjudges which NIC is near which GPU."));
}

void judge_stand_ins(const Host& host, Findings& findings) {
  for (const char* name : {"LD_LIBRARY_PATH", "LD_PRELOAD"}) {
    const std::string* value = value_of(host, name);
    if (value == nullptr || value->find("gdrkit/soft-") == std::string::npos) continue;
    findings.push_back(warn("", std::string(name) + " contains gdrkit's stand-ins",
                            {{name, *value}},
                            "Programs use the software NIC or GPU instead of this host's hardware.",
                            {to_type(text::Command("unset {}", name)),
                             to_do("use the stand-ins for one command: gdr run -- COMMAND")}));
  }
}

Findings find(const Host& host) {
  Findings findings;
  judge_stand_ins(host, findings);
  for (const Switch& one : switches()) {
    const std::string* value = value_of(host, one.name);
    if (value != nullptr && one.values.contains(*value)) {
      findings.push_back(
          about(one.name, *value, std::string(one.name) + " is " + *value, one.consequence));
    }
  }
  judge_lists(host, findings);
  judge_gid_index(host, findings);
  judge_topology_file(host, findings);
  if (!findings.empty()) return findings;
  Evidences evidence;
  for (const auto& [name, value] : host.environment) {
    const bool ours = name.rfind("NCCL_", 0) == 0 || name.rfind("UCX_", 0) == 0;
    if (ours) evidence.push_back({name, value});
  }
  if (evidence.empty()) return does_not_apply("no variable of NCCL or UCX is set");
  return {ok("", "no variable of NCCL or UCX switches GPUDirect RDMA off", std::move(evidence))};
}

}  // namespace environment_check

const Check kEnvironment{"environment",
                         Area::kProcess,
                         "Variables that NCCL and UCX obey",
                         environment_check::kExplanation,
                         60,
                         Cost::kPassive,
                         environment_check::find};

}  // namespace gdr::doctor
