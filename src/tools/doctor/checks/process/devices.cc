// The device nodes through which programs reach GPU and NIC, and /sys.
#include <unistd.h>

#include "doctor/checks/all.h"
#include "doctor/container.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace devices_check {

constexpr const char* kExplanation =
    "Programs reach NICs through /dev/infiniband/uverbsN (and rdma_cm to resolve addresses) and "
    "GPUs through /dev/nvidiactl, /dev/nvidia-uvm and /dev/nvidiaN. If one of them is missing, or "
    "the user may not read and write it, the library finds no device. A container has only the "
    "nodes that it was started with. NCCL reads the topology from /sys. If the RDMA subsystem is "
    "in exclusive mode (rdma system), a NIC is visible only in the network namespace that it was "
    "moved to.";

enum class Access { kThere, kDenied, kAbsent };

Access access_to(const Host& host, const std::string& path) {
  if (!host.files.exists(path)) return Access::kAbsent;
  // A capture does not show permissions.
  if (!host.is_live() || access(("/" + path).c_str(), R_OK | W_OK) == 0) return Access::kThere;
  return Access::kDenied;
}

struct Node {
  std::string path;
  Action absent_fix;
  std::string option;  // by which a container gets it
};

void judge(const Host& host, const Node& node, const std::string& who, Findings& findings,
           Evidences& well) {
  const std::string place = "/" + node.path;
  switch (access_to(host, node.path)) {
    case Access::kThere:
      well.push_back({place, host.is_live() ? "is readable and writable" : "there"});
      return;
    case Access::kDenied:
      findings.push_back(fail(
          "", place + " is not readable and writable", {{place, "denied"}},
          who + " cannot be used by this user.",
          {to_type(text::Command("sudo chmod a+rw {}", place)),
           to_do("add a udev rule with MODE=\"0666\"; start a container with --device " + place)}));
      return;
    case Access::kAbsent:
      // Device nodes made inside a container vanish with it, and are mostly not permitted.
      findings.push_back(
          fail("", place + " is absent", {{place, "not there"}}, who + " cannot be used.",
               is_container(host)
                   ? Fix{to_do("start the container with " + node.option), {}}
                   : Fix{node.absent_fix, to_do("start a container with " + node.option)}));
  }
}

constexpr const char *kAllNics = "--device /dev/infiniband", *kAllGpus = "--gpus all";

std::vector<Node> nic_nodes(const Host& host) {
  const Action load = to_type("sudo modprobe ib_uverbs");
  std::vector<Node> nodes;
  for (const host::Nic& nic : host.inventory.nics) {
    const std::string device = "sys/class/infiniband/" + nic.name + "/device/infiniband_verbs";
    for (const std::string& name : host.files.entries(device)) {
      nodes.push_back({"dev/infiniband/" + name, load, kAllNics});
    }
  }
  // Software NICs have no PCI device that says so.
  if (nodes.empty()) nodes.push_back({"dev/infiniband/uverbs0", load, kAllNics});
  nodes.push_back({"dev/infiniband/rdma_cm", to_type("sudo modprobe rdma_ucm"), kAllNics});
  return nodes;
}

void judge_gpus(const Host& host, Findings& findings, Evidences& well) {
  const Action create = to_type("sudo nvidia-modprobe -c 0 -u");
  judge(host, {"dev/nvidiactl", create, kAllGpus}, "CUDA", findings, well);
  judge(host, {"dev/nvidia-uvm", create, kAllGpus}, "CUDA", findings, well);
}

void judge_namespace(const Host& host, Findings& findings, Evidences& well) {
  const std::string path = "sys/module/ib_core/parameters/netns_mode";
  if (!host.files.exists(path)) return;
  const Evidence mode = read_line(host.files, path);
  if (mode.value != "N") {
    well.push_back({mode.source, "shared between network namespaces"});
    return;
  }
  well.push_back({mode.source, "exclusive: a NIC is in one network namespace only"});
  if (host.inventory.nics.empty()) {
    findings.push_back(
        warn("", "the RDMA subsystem is in exclusive mode, but no NIC is in this namespace", {mode},
             "NICs that were not moved into this network namespace are invisible.",
             {to_type("sudo rdma system set netns shared",
                      "on the host, for all namespaces; or rdma dev set NIC netns NAME for one"),
              to_do("on the host, set options ib_core netns_mode=1 in /etc/modprobe.d")}));
  }
}

Findings find(const Host& host) {
  const bool gpus = !host.inventory.gpus.empty(), nics = !host.inventory.nics.empty();
  if (!shows(host.files, "sys/bus")) {
    if (!host.is_live()) return {not_shown(host.files, "sys/bus", "the device nodes")};
    return {fail(
        "", "/sys is not mounted", {{"/sys/bus", "not there"}},
        "NCCL cannot tell which GPU is near which NIC.",
        {to_type("sudo mount -t sysfs sysfs /sys"), to_do("start the container with its /sys")})};
  }
  Findings findings;
  Evidences well;
  judge_namespace(host, findings, well);
  if (!gpus && !nics) {
    if (findings.empty()) return does_not_apply("neither NVIDIA GPU nor RDMA NIC");
    return findings;
  }
  if (!shows(host.files, "dev")) {
    findings.push_back(not_shown(host.files, "dev", "the device nodes"));
    return findings;
  }
  if (nics) {
    for (const Node& node : nic_nodes(host)) judge(host, node, "The NIC", findings, well);
  }
  if (gpus) judge_gpus(host, findings, well);
  if (findings.empty()) {
    findings.push_back(ok("", "the device nodes are usable", std::move(well)));
  }
  return findings;
}

}  // namespace devices_check

const Check kDevices{"devices",
                     Area::kProcess,
                     "Device nodes and their permissions",
                     devices_check::kExplanation,
                     15,
                     Cost::kPassive,
                     devices_check::find};

}  // namespace gdr::doctor
