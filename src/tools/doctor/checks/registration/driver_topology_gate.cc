// CPUs on which the GPU driver refuses most NICs.
#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/kernel_log.h"
#include "host/grade.h"
#include "host/pci/vendors.h"

namespace gdr::doctor {
namespace driver_topology_gate_check {

constexpr const char* kExplanation =
    "Root ports of NVIDIA Grace (TH500), Ampere Altra and AmpereOne-160 do not forward transfers "
    "to each other. There the GPU driver registers GPU memory only for a NIC that shares a bridge "
    "with the GPU (nv_grdma_pci_topology_supported). Every other NIC gets ENOTSUPP, 524, and the "
    "kernel logs 'PCI topology not supported for dma-buf'. The driver recognises these CPUs by "
    "their root ports, and so does this check. The rule does not apply to virtual machines and "
    "coherent memory (Grace Hopper). NVreg_GrdmaPciTopoCheckOverride=1 (570.86.15 and later) "
    "switches the driver's check off, but does not create a missing path.";

constexpr const char* kRefusal = "PCI topology not supported for dma-buf";

// Root ports by which the driver knows the processor (nvcst.h of its open kernel modules).
const char* processor_of(const host::PciFunction& function) {
  constexpr std::uint16_t kAmpere = 0x1def;
  const std::uint16_t device = function.device;
  const auto among = [device](std::initializer_list<std::uint16_t> devices) {
    return std::find(devices.begin(), devices.end(), device) != devices.end();
  };
  if (function.vendor == host::vendor::kNvidia &&
      among({0x22b1, 0x22b2, 0x22b3, 0x22b4, 0x22b8, 0x22b9})) {
    return "NVIDIA Grace";
  }
  if (function.vendor != kAmpere) return nullptr;
  if (among({0xe000, 0xe00d, 0xe00e, 0xe010, 0xe100, 0xe110})) return "Ampere Altra";
  if (device >= 0xe200 && device <= 0xe207) return "AmpereOne-160";
  return nullptr;
}

const host::PciFunction* gated_root_port(const Host& host) {
  for (const auto& [address, function] : host.inventory.pci.functions()) {
    if (processor_of(function) != nullptr) return &function;
  }
  return nullptr;
}

// Grace Hopper and Grace Blackwell: memory that the processor sees over NVLink-C2C.
bool is_coherent(const host::Gpu& gpu) {
  return gpu.model.find("GH200") != std::string::npos ||
         gpu.model.find("GB200") != std::string::npos ||
         gpu.model.find("GB300") != std::string::npos;
}

Finding judge(const Host& host, const host::Gpu& gpu, const std::string& processor,
              const Evidences& evidence) {
  const std::string subject = "GPU " + gpu.pci_address;
  if (is_coherent(gpu)) {
    return ok(subject, processor + ", and the GPU's memory is coherent: any NIC works", evidence);
  }
  std::string near;
  for (const host::Nic& nic : host.inventory.nics) {
    if (!gpu.pci || !nic.pci || host::meeting_point(*gpu.pci, *nic.pci).empty()) continue;
    near += (near.empty() ? "" : ", ") + nic.name;
  }
  if (!near.empty()) {
    return ok(subject, processor + ": the driver accepts " + near + " only, on the same bridge",
              evidence);
  }
  return fail(
      subject, processor + ": the driver accepts only NICs that share a bridge with the GPU",
      evidence, "Registering this GPU's memory fails with ENOTSUPP (524).",
      {{},
       to_do(
           "move the NIC below the GPU's switch or root port; the module option "
           "NVreg_GrdmaPciTopoCheckOverride=1 skips the check, but the path may still not work")});
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  if (host.inventory.nics.empty()) return no_nic();
  const std::vector<std::string> refusals = log_lines(host, kRefusal);
  const host::PciFunction* port = gated_root_port(host);
  if (port == nullptr || host.inventory.virtual_machine) {
    if (refusals.empty()) {
      return does_not_apply(port == nullptr
                                ? "not a CPU on which the driver refuses NICs"
                                : "a virtual machine, where the driver accepts all NICs");
    }
    return {fail("", "the GPU driver refused a NIC", {{"kernel log", refusals.back()}},
                 "Registering GPU memory with it fails with ENOTSUPP (524).",
                 {to_type("grep GrdmaPciTopoCheckOverride /proc/driver/nvidia/params",
                          "2 makes the driver refuse every NIC"),
                  {}})};
  }
  const std::string processor = processor_of(*port);
  Evidences evidence = {{"/sys/bus/pci/devices/" + port->address + "/{vendor,device}",
                         "a root port of " + processor}};
  const std::string text = host.files.text("proc/driver/nvidia/params");
  if (text.find("GrdmaPciTopoCheckOverride: 1") != std::string::npos) {
    evidence.push_back({"/proc/driver/nvidia/params", "GrdmaPciTopoCheckOverride: 1"});
    return {warn("", processor + ", but the driver's check is off", evidence,
                 "The driver accepts NICs that may not reach the GPU.",
                 {to_type("gdr prove --all", "proves every pair, byte by byte"), {}})};
  }
  if (!refusals.empty()) evidence.push_back({"kernel log", refusals.back()});
  Findings findings;
  for (const host::Gpu& gpu : host.inventory.gpus) {
    findings.push_back(judge(host, gpu, processor, evidence));
  }
  return findings;
}

}  // namespace driver_topology_gate_check

const Check kDriverTopologyGate{"driver-topology-gate",
                                Area::kRegistration,
                                "CPUs on which the GPU driver refuses NICs",
                                driver_topology_gate_check::kExplanation,
                                18,
                                Cost::kPassive,
                                driver_topology_gate_check::find};

}  // namespace gdr::doctor
