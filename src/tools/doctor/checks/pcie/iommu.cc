// Does an IOMMU stand between GPU and NIC?
#include <algorithm>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/pairs.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace iommu_check {

constexpr const char* kExplanation =
    "A translating IOMMU gives devices their own addresses. GPUDirect RDMA then works only if the "
    "driver maps the GPU's memory for the NIC (DmaRemapPeerMmio), and transfers between the two "
    "may go up to the root port for translation. NVIDIA's guide requires identical addresses for "
    "all devices: IOMMU off or in pass-through. The check reads the type of the groups of GPU and "
    "NIC: identity is pass-through, DMA and DMA-FQ translate. iommu=pt on the kernel command line "
    "(iommu.passthrough=1 on ARM) sets pass-through after a reboot; virtual functions for guests "
    "keep working.";

enum class Vendor : std::uint8_t { kIntel, kAmd, kArm, kOther };

struct Iommu {
  std::vector<std::string> units;  // "dmar0", "ivhd0", "smmu3.0x0000000011000000"
  std::string command_line;
  bool groups = false;
};

Iommu read_iommu(const Host& host) {
  Iommu iommu;
  iommu.units = host.files.entries("sys/class/iommu");
  iommu.command_line = host.files.line("proc/cmdline");
  iommu.groups = !host.files.entries("sys/kernel/iommu_groups").empty();
  return iommu;
}

bool has_unit(const Iommu& iommu, const char* name) {
  return std::ranges::any_of(iommu.units,
                             [&](const std::string& unit) { return unit.rfind(name, 0) == 0; });
}

Vendor vendor_of(const Iommu& iommu) {
  if (has_unit(iommu, "dmar")) return Vendor::kIntel;
  if (has_unit(iommu, "ivhd")) return Vendor::kAmd;
  return has_unit(iommu, "smmu") || has_unit(iommu, "arm-smmu") ? Vendor::kArm : Vendor::kOther;
}

// The words of the command line that an IOMMU heeds.
std::string settings_of(const std::string& command_line) {
  std::string settings;
  for (const std::string_view word : split(command_line, ' ')) {
    if (word.find("iommu") == std::string_view::npos) continue;
    settings += (settings.empty() ? "" : " ") + std::string(word);
  }
  return settings;
}

Finding off(const Iommu& iommu) {
  Finding finding;
  finding.summary = "no IOMMU is in use";
  finding.evidence = {{"/sys/class/iommu", "empty"},
                      {"/proc/cmdline", settings_of(iommu.command_line)}};
  if (finding.evidence.back().value.empty()) finding.evidence.pop_back();
  return finding;
}

void set_fix(const Host& host, Finding& finding, const Iommu& iommu) {
  const char* parameter = "iommu=pt";
  switch (vendor_of(iommu)) {
    case Vendor::kIntel:
      // Guests need intel_iommu=on to get virtual functions.
      parameter = iommu.command_line.find("intel_iommu=on") == std::string::npos
                      ? "intel_iommu=on iommu=pt"
                      : "iommu=pt";
      break;
    case Vendor::kArm:
      parameter = "iommu.passthrough=1";
      break;
    case Vendor::kAmd:
    case Vendor::kOther:
      break;
  }
  const std::string words = parameter;
  // Debian's GRUB reads this folder; Fedora and Red Hat have grubby.
  if (host.files.exists("etc/default/grub.d")) {
    finding.fix.for_good =
        to_type(text::Command("echo {} | sudo tee /etc/default/grub.d/iommu.cfg\nsudo update-grub",
                              "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX " + words + "\""),
                "then reboot");
  } else if (host.files.exists("usr/sbin/grubby")) {
    finding.fix.for_good =
        to_type(text::Command("sudo grubby --update-kernel=ALL --args={}", words), "then reboot");
  } else {
    finding.fix.for_good = to_do("add " + words + " to the kernel's command line and reboot");
  }
}

std::string type_file(const host::PciFunction& function) {
  return "sys/kernel/iommu_groups/" + std::to_string(function.iommu_group) + "/type";
}

bool passes_through(const std::string& type, const Iommu& iommu) {
  if (!type.empty()) return type == "identity";
  // Kernels before 5.11 do not show the type.
  return iommu.command_line.find("iommu=pt") != std::string::npos ||
         iommu.command_line.find("iommu.passthrough=1") != std::string::npos;
}

Finding judge(const Host& host, const Iommu& iommu, const Pair& pair) {
  Finding finding;
  finding.subject = subject_of(pair);
  bool translates = false, known = true, grouped = false;
  for (const host::PciFunction* function : {&*pair.gpu->pci, &*pair.nic->pci}) {
    // No group: this device is behind no IOMMU.
    if (function->iommu_group < 0) continue;
    grouped = true;
    const std::string file = type_file(*function), type = host.files.line(file);
    finding.evidence.push_back({"/" + file, type.empty() ? "not there" : type});
    if (passes_through(type, iommu)) continue;
    known &= !type.empty();
    translates |= !type.empty();
  }
  const std::string settings = settings_of(iommu.command_line);
  finding.evidence.push_back({"/proc/cmdline", settings.empty() ? "no IOMMU option" : settings});
  if (translates) {
    finding.outcome = Outcome::kWarn;
    finding.summary = "the IOMMU translates between GPU and NIC";
    finding.consequence =
        "Transfers may go up to the CPU to be translated, and old drivers fail to register memory.";
    set_fix(host, finding, iommu);
  } else if (!known) {
    finding.outcome = Outcome::kUnknown;
    finding.summary = "an IOMMU is on, but this kernel does not show whether it translates";
    finding.fix.now = to_type("sudo dmesg | grep -i 'default domain type'");
  } else {
    finding.summary = grouped ? "the IOMMU is in pass-through" : "no IOMMU between GPU and NIC";
  }
  return finding;
}

Findings find(const Host& host) {
  Gathered gathered("GPU-NIC pairs");
  const auto gpus = pairs_of(host.inventory);
  const bool any =
      std::ranges::any_of(gpus, [](const GpuPairs& gpu) { return !gpu.pairs.empty(); });
  if (!any) return does_not_apply(why_no_pairs(host.inventory));
  if (!shows(host.files, "sys/class")) {
    return {not_shown(host.files, "sys/class", "whether an IOMMU translates")};
  }
  const Iommu iommu = read_iommu(host);
  if (iommu.units.empty() && !iommu.groups) return {off(iommu)};
  for (const GpuPairs& gpu : gpus) {
    if (!gpu.pairs.empty()) {
      gathered.add(judge(host, iommu, gpu.pairs.front()), gpu.gpu->pci_address);
    }
  }
  return gathered.take();
}

}  // namespace iommu_check

const Check kIommu{
    "iommu",        Area::kPcie,      "IOMMU between GPUs and NICs", iommu_check::kExplanation, 62,
    Cost::kPassive, iommu_check::find};

}  // namespace gdr::doctor
