// Is there a GPU, and does the NVIDIA driver manage it?
#include "doctor/checks/all.h"
#include "doctor/checks/unsupported.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace gpus_check {

constexpr const char* kExplanation =
    "GPUDirect RDMA needs an NVIDIA GPU that is bound to NVIDIA's kernel driver. The check reads "
    "the PCI functions of vendor 10de with a display class, and the driver of each. A GPU bound to "
    "vfio-pci belongs to a virtual machine; nouveau is a driver without CUDA. Both fail here, and "
    "gdr changes no binding by itself. Without a GPU on the PCI bus no other GPU check applies. "
    "GPUs and accelerators of other makers are named but not judged.";

// No fault of the machine's: it has GPUs, of which gdr can say nothing.
Finding others_only(const std::string& others) {
  return unknown("", "no NVIDIA GPU; unsupported: " + others,
                 {{"/sys/bus/pci/devices/*/{vendor,class}", others}},
                 to_do("use their maker's tools; gdr supports NVIDIA's driver only"));
}

Finding no_gpu(const Host& host) {
  Finding finding;
  finding.outcome = Outcome::kFail;
  finding.summary = "no NVIDIA GPU on the PCI bus";
  finding.evidence = {{"/sys/bus/pci/devices/*/{vendor,class}", "none of 0x10de, 0x03xxxx"}};
  finding.consequence = "There is no GPU memory that a NIC could reach.";
  finding.fix.now = host.inventory.virtual_machine
                        ? to_do("pass the GPU into this virtual machine")
                        : to_type("lspci -nn -d 10de:",
                                  "if an installed GPU is not listed, it has no power, or the "
                                  "firmware has no address space for it (Above 4G Decoding)");
  return finding;
}

Finding judge(const Host& host, const host::Gpu& gpu) {
  const std::string device = "sys/bus/pci/devices/" + gpu.pci_address;
  Finding finding;
  finding.subject = "GPU " + gpu.pci_address;
  finding.evidence = {{"/" + device + "/driver", gpu.driver.empty() ? "not there" : gpu.driver}};
  if (gpu.driver == "nvidia") {
    finding.summary = gpu.model + ", bound to nvidia";
    return finding;
  }
  finding.consequence = "CUDA cannot use this GPU.";
  // Text sources and captures of parts of sysfs have no driver links.
  if (gpu.driver.empty() && !host.files.exists(device + "/vendor")) {
    finding.outcome = Outcome::kUnknown;
    finding.summary = gpu.model + "; cannot see its driver";
    finding.consequence.clear();
    return finding;
  }
  finding.outcome = Outcome::kFail;
  finding.summary =
      gpu.driver.empty() ? "bound to no driver" : "bound to " + gpu.driver + ", not to nvidia";
  if (gpu.driver == "nouveau") {
    finding.fix = {to_type("sudo modprobe -r nouveau && sudo modprobe nvidia"),
                   to_type("echo 'blacklist nouveau' | sudo tee /etc/modprobe.d/nouveau.conf",
                           "then rebuild the initramfs and reboot")};
  } else if (gpu.driver == "vfio-pci") {
    finding.consequence = "CUDA cannot use this GPU here: it is reserved for a virtual machine.";
    finding.fix = {to_type(text::Command("echo {} | sudo tee /sys/bus/pci/drivers/vfio-pci/unbind\n"
                                         "sudo modprobe nvidia",
                                         gpu.pci_address),
                           "only if no virtual machine uses it"),
                   to_do("remove its ids from vfio-pci.ids= on the kernel command line and in "
                         "/etc/modprobe.d")};
  } else {
    finding.fix = {to_type("sudo modprobe nvidia\nsudo dmesg | grep -i nvrm"),
                   to_do("install the NVIDIA driver")};
  }
  return finding;
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) {
    const std::string folder = "sys/bus/pci/devices";
    if (!shows(host.files, folder) && host.inventory.pci.empty()) {
      return {not_shown(host.files, folder, "whether there is a GPU")};
    }
    const std::string others =
        unsupported_text(host.inventory, host::UnsupportedDevice::Kind::kGpu);
    if (!others.empty()) return {others_only(others)};
    return {no_gpu(host)};
  }
  Findings findings;
  for (const host::Gpu& gpu : host.inventory.gpus) findings.push_back(judge(host, gpu));
  return findings;
}

}  // namespace gpus_check

const Check kGpus{"gpus",
                  Area::kGpu,
                  "GPUs on the PCI bus, and their driver",
                  gpus_check::kExplanation,
                  10,
                  Cost::kPassive,
                  gpus_check::find};

}  // namespace gdr::doctor
