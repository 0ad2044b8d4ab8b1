// How far is the best NIC from each GPU?
#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace pair_grade_check {

constexpr const char* kExplanation =
    "The path between a GPU and a NIC decides how fast they reach each other. In nvidia-smi's "
    "terms: PIX and PXB, below one or several PCIe switches, are good; PHB, through one host "
    "bridge, often is, but NCCL uses it only on request (NCCL_NET_GDR_LEVEL=PHB); NODE and SYS "
    "cross the fabric inside a CPU or between two, and are often slow. The check judges the best "
    "NIC of each GPU; gdr topo shows all pairs and the reasons. The fix is a NIC in a slot nearer "
    "to the GPU. In a virtual machine the hypervisor invents the tree, which says nothing: measure "
    "there (gdr perf), or give NCCL the provider's topology file.";

Finding judge(const GpuPairs& gpu) {
  const Pair& pair = gpu.pairs.front();
  Finding finding;
  finding.subject = subject_of(pair);
  const std::string grade = host::name_of(pair.grade);
  std::string way;
  for (const std::string& part : pair.nic->pci->path) way += (way.empty() ? "" : "/") + part;
  finding.evidence = {{"/sys/bus/pci/devices/" + pair.nic->pci->address, grade + ": " + way},
                      {"best NIC of " + label(*pair.gpu), label(*pair.nic) + ": " + gpu.why}};
  switch (pair.grade) {
    case host::PciPath::kPix:
    case host::PciPath::kPxb:
      finding.summary = "the best NIC is below the same PCIe switch (" + grade + ")";
      break;
    case host::PciPath::kPhb:
      finding.summary =
          "the best NIC is below the same host bridge (PHB); NCCL needs NCCL_NET_GDR_LEVEL=PHB";
      break;
    case host::PciPath::kNode:
    case host::PciPath::kSys:
      finding.outcome = Outcome::kWarn;
      finding.summary = pair.grade == host::PciPath::kNode
                            ? "the best NIC is behind another host bridge (NODE)"
                            : "the best NIC is on another NUMA node (SYS)";
      finding.consequence =
          "Transfers cross the CPU's fabric, often at half the NIC's rate or less, so NCCL copies "
          "through host memory instead.";
      finding.fix.now = to_type(text::Command("export NCCL_NET_GDR_LEVEL={}",
                                              pair.grade == host::PciPath::kNode ? "PHB" : "SYS"),
                                "makes NCCL use it anyway; measure with gdr perf");
      finding.fix.for_good =
          to_do("move the NIC to a slot below the GPU's own switch or host bridge");
      break;
  }
  return finding;
}

Finding unreliable(const host::Inventory& inventory) {
  Finding finding;
  finding.outcome = Outcome::kUnknown;
  finding.summary =
      inventory.flat
          ? "a flat PCI tree, invented by a hypervisor: devices that look far may be near"
          : "a virtual machine: the PCI tree may differ from the hardware";
  finding.consequence =
      "NCCL may not use GPUDirect RDMA for near pairs, or may choose wrong pairs.";
  finding.fix.now = to_type(
      "gdr perf", "measures the pairs; or set NCCL_TOPO_FILE to the provider's topology file");
  return finding;
}

// There are NICs for data, and no way to any is known: the NUMA nodes are not shown, say.
Finding not_known(const host::Gpu& gpu) {
  Finding finding;
  finding.outcome = Outcome::kUnknown;
  finding.subject = label(gpu);
  finding.summary = "cannot tell how near its NICs are: the source does not show it";
  finding.fix.now =
      to_type("gdr topo", "on the host itself, or with a capture of it ('gdr doctor capture')");
  return finding;
}

// One host bridge for each NUMA node: what meets there may be farther apart.
Finding merged_bridges() {
  Finding finding;
  finding.outcome = Outcome::kUnknown;
  finding.summary = "the best NIC is PHB or NODE: the file has one host bridge per NUMA node";
  finding.fix.now =
      to_type("gdr topo", "on the host itself, or with a capture of it ('gdr doctor capture')");
  return finding;
}

Findings find(const Host& host) {
  Gathered gathered("GPU-NIC pairs");
  bool any = false;
  const bool any_nic = std::ranges::any_of(
      host.inventory.nics, [](const host::Nic& nic) { return nic.pci && nic.management.empty(); });
  for (const GpuPairs& gpu : pairs_of(host.inventory)) {
    if (gpu.pairs.empty()) {
      any = any || any_nic;
      if (any_nic) gathered.add(not_known(*gpu.gpu), gpu.gpu->pci_address);
      continue;
    }
    any = true;
    if (host.inventory.host_bridges_merged && gpu.pairs.front().grade == host::PciPath::kPhb) {
      Finding finding = merged_bridges();
      finding.subject = subject_of(gpu.pairs.front());
      gathered.add(std::move(finding), gpu.gpu->pci_address);
      continue;
    }
    gathered.add(judge(gpu), gpu.pairs.front().nic->pci->address);
  }
  if (any && !has_reliable_grades(host.inventory)) {
    return {unreliable(host.inventory)};
  }
  return gathered.take(why_no_pairs(host.inventory));
}

}  // namespace pair_grade_check

const Check kPairGrade{"pair-grade",
                       Area::kPcie,
                       "Distance from each GPU to its best NIC",
                       pair_grade_check::kExplanation,
                       50,
                       Cost::kPassive,
                       pair_grade_check::find};

}  // namespace gdr::doctor
