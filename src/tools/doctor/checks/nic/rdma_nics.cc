// Is there an RDMA NIC with a driver?
#include <algorithm>
#include <set>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/checks/unsupported.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "host/pci/vendors.h"

namespace gdr::doctor {
namespace rdma_nics_check {

constexpr const char* kFolder = "sys/class/infiniband";
constexpr std::uint16_t kEthernetController = 0x0200, kInfinibandController = 0x0207;

constexpr const char* kExplanation =
    "GPUDirect RDMA needs a NIC that the kernel's RDMA stack manages: an entry in "
    "/sys/class/infiniband that is on the PCI bus. If lspci shows an NVIDIA NIC but the RDMA stack "
    "does not, it has no driver, lacks the driver's RDMA part (mlx5_ib), or is reserved for a "
    "virtual machine (vfio-pci). Software devices such as rxe and siw copy with the CPU and cannot "
    "reach GPU memory. In a container /sys/class/infiniband shows what the host passes in. NICs of "
    "other makers without an RDMA device are named but not judged.";

bool is_nic(const host::PciFunction& function) {
  const auto kind = function.class_code >> 8;
  return function.vendor == host::vendor::kMellanox && !function.is_virtual_function &&
         (kind == kEthernetController || kind == kInfinibandController);
}

Finding without_rdma(const host::PciFunction& function, bool others) {
  Finding finding;
  finding.outcome = others ? Outcome::kWarn : Outcome::kFail;
  finding.subject = "NIC " + function.address;
  finding.evidence = {{"/sys/bus/pci/devices/" + function.address + "/driver",
                       function.driver.empty() ? "not there" : function.driver}};
  if (function.driver == "vfio-pci") {
    finding.outcome = Outcome::kOk;
    finding.summary = "reserved for a virtual machine (vfio-pci)";
    return finding;
  }
  finding.summary = function.driver.empty() ? "it has no driver" : "it has no RDMA device";
  finding.consequence = "No program can use it for RDMA.";
  finding.fix = {to_type("sudo modprobe mlx5_ib\nsudo dmesg | grep mlx5",
                         "the second command shows why a driver refuses it"),
                 to_do("install the kernel's mlx5 modules, or NVIDIA's DOCA-OFED")};
  return finding;
}

Finding others_only(const std::string& others) {
  return unknown("", "no supported RDMA NIC; unsupported: " + others,
                 {{std::string("/") + kFolder, "no device on the PCI bus"},
                  {"/sys/bus/pci/devices/*/{vendor,device,class}", others}},
                 to_do("if they support RDMA, their maker's driver creates a device in "
                       "/sys/class/infiniband, which gdr then sees (ibv_devices lists it)"));
}

Finding none(const Host& host, bool software) {
  Finding finding;
  finding.outcome = Outcome::kFail;
  finding.summary =
      software ? "no RDMA NIC, only software RDMA devices" : "no RDMA NIC on this host";
  finding.evidence = {
      {std::string("/") + kFolder, software ? "no device on the PCI bus" : "empty"}};
  finding.consequence = "Nothing can reach GPU memory over a network.";
  finding.fix.now =
      host.inventory.virtual_machine
          ? to_do("pass a NIC, or a virtual function of one, into this virtual machine")
          : to_type("lspci -nn | grep -i -e infiniband -e ethernet",
                    "shows whether a NIC lacks its driver");
  return finding;
}

Finding none_for_data() {
  return fail("", "all RDMA NICs here manage NVSwitches; none is for data", {},
              "Nothing can reach GPU memory over a network.",
              {to_type("lspci -nn | grep -i -e infiniband -e ethernet", "shows other NICs"), {}});
}

Finding present(const host::Nic& nic) {
  Finding finding;
  finding.subject = label(nic);
  finding.summary =
      nic.management.empty() ? "RDMA NIC with a driver" : "manages NVSwitches, not for data";
  finding.evidence = {{std::string("/") + kFolder + "/" + nic.name,
                       nic.pci->address + (nic.driver.empty() ? "" : ", " + nic.driver)}};
  return finding;
}

Findings find(const Host& host) {
  Gathered gathered("NICs");
  std::set<std::string> known;
  bool software = false;
  for (const host::Nic& nic : host.inventory.nics) {
    software |= !nic.pci;
    if (!nic.pci) continue;
    known.insert(nic.pci->address);
    gathered.add(present(nic), nic.pci->address);
  }
  const bool any_for_data = std::ranges::any_of(
      host.inventory.nics, [](const host::Nic& nic) { return nic.pci && nic.management.empty(); });
  bool without = false;
  for (const auto& [address, function] : host.inventory.pci.functions()) {
    if (!is_nic(function) || known.contains(address)) continue;
    without = true;
    gathered.add(without_rdma(function, !known.empty()), address);
  }
  if (known.empty() && !without) {
    if (!software && host.inventory.pci.empty() && !shows(host.files, "sys/class")) {
      return {not_shown(host.files, "sys/class", "whether there is an RDMA NIC")};
    }
    const std::string others =
        unsupported_text(host.inventory, host::UnsupportedDevice::Kind::kNic);
    if (!others.empty()) return {others_only(others)};
    return {none(host, software)};
  }
  Findings findings = gathered.take();
  if (!known.empty() && !any_for_data) findings.insert(findings.begin(), none_for_data());
  return findings;
}

}  // namespace rdma_nics_check

const Check kNics{
    "rdma-nics", Area::kNic,     "RDMA NICs, and their driver", rdma_nics_check::kExplanation,
    15,          Cost::kPassive, rdma_nics_check::find};

}  // namespace gdr::doctor
