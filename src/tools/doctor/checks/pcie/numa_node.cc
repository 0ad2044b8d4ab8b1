// Does the kernel know which NUMA node each GPU and NIC belongs to?
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace numa_node_check {

constexpr const char* kExplanation =
    "Programs place their threads and buffers on the NUMA node of their NIC or GPU, and NCCL uses "
    "it to find near pairs. The kernel learns the node from the firmware; numa_node is -1 if the "
    "firmware does not report it. On a host with one node this does not matter. The fix is a BIOS, "
    "or in a virtual machine a hypervisor, that describes the host bridges; until then set the "
    "node by hand.";

unsigned node_count(const Host& host) {
  if (!host.inventory.numa_nodes.empty()) {
    return static_cast<unsigned>(host.inventory.numa_nodes.size());
  }
  unsigned count = 0;
  for (const std::string& name : host.files.entries("sys/devices/system/node")) {
    if (name.size() > 4 && name.rfind("node", 0) == 0 &&
        name.find_first_not_of("0123456789", 4) == std::string::npos) {
      ++count;
    }
  }
  return count;
}

Finding judge(const host::PciFunction& function, const std::string& device) {
  Finding finding;
  finding.subject = device;
  const std::string file = "/sys/bus/pci/devices/" + function.address + "/numa_node";
  finding.evidence = {{file, std::to_string(function.numa_node)}};
  if (function.numa_node >= 0) {
    finding.summary = "NUMA node known";
    return finding;
  }
  finding.outcome = Outcome::kWarn;
  finding.summary = "the kernel does not know its NUMA node";
  finding.consequence =
      "Threads and buffers may land on the far node, and NCCL may misjudge which pairs are near.";
  finding.fix.now =
      to_do("if you know it, write the node to /sys/bus/pci/devices/DEVICE/numa_node of {}");
  finding.fix.for_good =
      to_do("update the BIOS, or in a virtual machine make the hypervisor report the node");
  return finding;
}

Findings find(const Host& host) {
  if (node_count(host) < 2) return does_not_apply("one NUMA node");
  Gathered gathered("GPUs and NICs");
  for (const host::Gpu& gpu : host.inventory.gpus) {
    if (gpu.pci) gathered.add(judge(*gpu.pci, label(gpu)), gpu.pci->address);
  }
  for (const host::Nic& nic : host.inventory.nics) {
    if (nic.pci) gathered.add(judge(*nic.pci, label(nic)), nic.pci->address);
  }
  return gathered.take("neither NVIDIA GPU nor RDMA NIC");
}

}  // namespace numa_node_check

const Check kNumaNode{
    "numa-node", Area::kPcie,    "NUMA nodes of GPUs and NICs", numa_node_check::kExplanation,
    80,          Cost::kPassive, numa_node_check::find};

}  // namespace gdr::doctor
