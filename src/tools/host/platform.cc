#include "host/platform.h"

#include <algorithm>
#include <string_view>

#include "base/environment.h"
#include "host/pci/vendors.h"

namespace gdr::host {
namespace {

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// Clouds whose machines without a hypervisor say the same: there the processor's flag decides.
constexpr std::string_view kClouds[] = {"Google", "Alibaba Cloud", "Tencent Cloud"};

// Words of firmware that stand for no name.
bool is_named(const std::string& product) {
  for (const std::string_view filler :
       {"To Be Filled", "To be filled", "Default string", "System Product Name", "Not Specified",
        "Not Applicable", "None", "Unknown"}) {
    if (has(product, filler)) return false;
  }
  return product.find_first_not_of(" .-0") != std::string::npos;
}

GuestSign yes(const std::string& sign) { return {Guest::kYes, sign}; }
GuestSign no(const std::string& sign) { return {Guest::kNo, sign}; }

GuestSign by_clouds(const Platform& platform) {
  // "p4d.24xlarge"
  const bool instance = platform.product.ends_with("large") && has(platform.product, ".");
  const bool amazon = platform.vendor == "Amazon EC2" || platform.bios_vendor == "Amazon EC2" ||
                      (platform.vendor.empty() && instance);
  if (amazon && has(platform.product, ".metal")) return no("DMI product " + platform.product);
  if (amazon) return yes("Amazon EC2, product " + platform.product);
  for (const std::string_view cloud : kClouds) {
    if (platform.kernel.answer == Guest::kNo) break;
    if (platform.product.starts_with(cloud) || platform.vendor.starts_with(cloud)) {
      return yes("DMI product " + (platform.product.empty() ? platform.vendor : platform.product));
    }
  }
  return {};
}

GuestSign by_names(const Platform& platform) {
  // As systemd-detect-virt (src/basic/virt.c, detect_vm_dmi_vendor), with the products of clouds.
  constexpr std::string_view kProducts =
      "Virtual Machine|VMware|KVM|HVM domU|VirtualBox|Standard PC|OpenStack|KubeVirt|"
      "RHEV Hypervisor|oVirt|BHYVE|Parallels|AHV|Bochs|pc-q35|pc-i440fx|Droplet|vServer|"
      "Cloud Hypervisor|Firecracker|crosvm|QEMU|Virtual Platform";
  for (const std::string_view name : split(kProducts, '|')) {
    if (has(platform.product, name)) return yes("DMI product " + platform.product);
    if (has(platform.model, name)) return yes("device-tree model " + platform.model);
  }
  for (const std::string_view maker :
       {"QEMU", "VMware", "Xen", "innotek GmbH", "Bochs", "BHYVE", "Parallels", "KubeVirt",
        "OpenStack", "Nutanix", "Red Hat", "oVirt", "Apple Virtualization", "SeaBIOS"}) {
    if (platform.vendor.starts_with(maker)) return yes("DMI vendor " + platform.vendor);
    if (platform.bios_vendor.starts_with(maker)) return yes("BIOS of " + platform.bios_vendor);
  }
  // "IBM pSeries (emulated by qemu)", "linux,dummy-virt"
  for (const std::string_view name : {"emulated by qemu", "dummy-virt"}) {
    if (has(platform.model, name)) return yes("device-tree model " + platform.model);
  }
  if (platform.firmware == "pSeries") return yes("platform pSeries, a partition of a hypervisor");
  return {};
}

struct EmulatedFunction {
  std::uint16_t vendor, device;  // device 0: all of the vendor
  std::string_view name;         // in text without numbers; empty: none
  const char* maker;
};
// Sources: pci.ids; QEMU docs/specs/pci-ids.rst; open-vm-tools; xen docs/misc/xen-pci-ids.
constexpr EmulatedFunction kEmulated[] = {
    {vendor::kQemu, 0, "QEMU", "QEMU"},
    {vendor::kQemuDisplay, 0x1111, "", "QEMU"},
    {vendor::kVmware, 0, "VMware", "VMware"},
    {vendor::kVirtualBox, 0, "VirtualBox", "VirtualBox"},
    {vendor::kXen, 0, "Xen Platform Device", "Xen"},
    {vendor::kMicrosoft, 0x5353, "Hyper-V", "Hyper-V"},
    {vendor::kMicrosoft, 0x008e, "", "Hyper-V"},
    {vendor::kGoogle, 0x0042, "gVNIC", "Google's virtual NIC"},
};
constexpr EmulatedFunction kLikely[] = {
    {vendor::kVirtio, 0, "Virtio", "virtio devices"},
    {vendor::kAmazon, 0x1111, "", "AWS Nitro"},
    {vendor::kAmazon, 0x0200, "", "AWS Nitro"},
    {vendor::kIntel, 0x1237, "440FX - 82441FX", "an emulated i440FX chip set"},
    {vendor::kIntel, 0x7000, "82371SB PIIX3", "an emulated i440FX chip set"},
    {vendor::kIntel, 0x7113, "82371AB/EB/MB PIIX4 ACPI", "an emulated i440FX chip set"},
    {vendor::kIntel, 0x7192, "440BX/ZX/DX - 82443BX", "an emulated 440BX chip set"},
    {vendor::kIntel, 0x7190, "440BX/ZX/DX - 82443BX", "an emulated 440BX chip set"},
    {vendor::kIntel, 0x29c0, "82G33/G31/P35/P31 Express DRAM", "an emulated Q35 chip set"},
};

template <std::size_t kCount>
const EmulatedFunction* find(const EmulatedFunction (&table)[kCount], const PciFunction& function) {
  const auto* found = std::ranges::find_if(table, [&](const EmulatedFunction& one) {
    if (function.vendor == one.vendor && (one.device == 0 || function.device == one.device)) {
      return true;
    }
    return !one.name.empty() && has(function.name, one.name);
  });
  return found == std::end(table) ? nullptr : found;
}

std::string at(const PciFunction& function) { return ": " + function.address; }

}  // namespace

GuestSign guest_by_platform(const Platform& platform) {
  if (platform.kernel.answer == Guest::kYes) return platform.kernel;
  for (const auto& judge : {by_clouds, by_names}) {
    if (GuestSign found = judge(platform); found.answer != Guest::kUnknown) return found;
  }
  if (platform.kernel.answer == Guest::kNo) return platform.kernel;
  if (platform.firmware == "PowerNV") return no("platform PowerNV");
  if (is_named(platform.product)) return no("DMI product " + platform.product);
  if (is_named(platform.model)) return no("device-tree model " + platform.model);
  return {};
}

GuestSign guest_by_functions(const PciTree& tree) {
  for (const auto& [address, function] : tree.functions()) {
    if (const EmulatedFunction* one = find(kEmulated, function)) {
      return yes(std::string("a PCI function of ") + one->maker + at(function));
    }
  }
  return {};
}

GuestSign guest_by_likely_functions(const PciTree& tree) {
  for (const auto& [address, function] : tree.functions()) {
    // A chip set that is real has its board's maker as subsystem.
    const bool real =
        function.subsystem_vendor != 0 && function.subsystem_vendor != vendor::kVirtio;
    const EmulatedFunction* one = find(kLikely, function);
    if (one != nullptr && (one->vendor == vendor::kVirtio || !real)) {
      return yes(std::string("PCI functions of ") + one->maker + at(function));
    }
    if (function.subsystem_vendor == vendor::kVirtio)
      return yes("a PCI function that QEMU emulates" + at(function));
  }
  return {};
}

}  // namespace gdr::host
