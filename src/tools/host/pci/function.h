// A PCI function: where in the tree it sits, what its links run at and could run at, and what its
// configuration space says of it. Absent is not unknown: what could not be read is nothing.
//
//   std::optional<PciFunction> nic = read_pci_function(files,
//                                                      "sys/class/infiniband/mlx5_0/device");
//   if (nic && nic->acs && nic->acs->redirects()) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/files.h"
#include "host/pci/address.h"
#include "host/pci/product_data.h"

namespace gdr::host {

struct PciLink {
  std::string above, below;          // addresses of its two ends
  double speed = 0, most_speed = 0;  // GT/s a lane; 0: not known. The most that both ends can do.
  unsigned width = 0, most_width = 0;
  double bandwidth = 0;  // GB/s, where the source tells neither of the two (hwloc); 0: not known
};

// Device/Port Type of the PCI Express Capabilities register (PCI Express Base Specification 6.0,
// 7.5.3.2).
enum class PciKind : std::uint8_t {
  kUnknown,     // the capability could not be read
  kEndpoint,    // also the legacy and the integrated ones
  kRootPort,    //
  kUpstream,    // of a switch, towards the CPU
  kDownstream,  // of a switch, towards a device
  kBridge       // to or from conventional PCI
};

// Access Control Services (the same, 6.12 and 7.7.11).
struct AccessControl {
  static constexpr std::uint16_t kSourceValidation = 0x01, kTranslationBlocking = 0x02,
                                 kRequestRedirect = 0x04, kCompletionRedirect = 0x08,
                                 kUpstreamForwarding = 0x10, kEgressControl = 0x20,
                                 kDirectTranslated = 0x40;
  // What sends transfers between two devices below a switch up to the root port and back.
  static constexpr std::uint16_t kRedirects =
      kRequestRedirect | kCompletionRedirect | kEgressControl;

  std::uint16_t offset = 0;  // of the capability in the configuration space; 0: not known
  std::uint16_t capabilities = 0, control = 0;

  std::uint16_t effective() const { return capabilities & control; }
  bool redirects() const { return (effective() & kRedirects) != 0; }
};

// Address Translation Services (the same, 10.5.1).
struct AddressTranslation {
  std::uint16_t offset = 0;
  bool enabled = false;
};

// A base address register whose size firmware may choose (the same, 7.8.6).
struct ResizableBar {
  unsigned number = 0;
  std::uint64_t size = 0, most = 0;  // bytes; 0: not known
};

struct PciFunction {
  std::string address;  // "0000:41:00.0"
  // From the host bridge, "pci0000:00", over each bridge to the function itself.
  std::vector<std::string> path;
  std::vector<PciLink> links;  // the function's own first, the root port's last
  int numa_node = -1;

  std::uint16_t vendor = 0, device = 0, subsystem_vendor = 0, subsystem_device = 0;  // 0: unknown
  std::uint32_t class_code = 0;                                                      // 0x030200
  std::string name;     // "GH100 [H100 SXM5 80GB]"; empty: unknown
  std::string driver;   // of the kernel, "nvidia"; empty: none, or unknown
  std::string remark;   // what is said beside its name: "not supported here"
  ProductData product;  // of few, see read_product_data(); and only root is shown it
  int iommu_group = -1;
  bool is_virtual_function = false;
  PciKind kind = PciKind::kUnknown;

  // From the configuration space; without root only its first 64 bytes are readable.
  bool configuration_read = false;                        // all of it
  std::uint16_t device_control_offset = 0;                // of the next three; 0: not known
  std::optional<unsigned> max_payload, max_read_request;  // bytes
  std::optional<bool> relaxed_ordering;
  std::optional<AccessControl> acs;
  std::optional<AddressTranslation> ats;
  std::vector<ResizableBar> resizable_bars;

  // The address of the bridge above; empty right below a host bridge.
  std::string parent() const { return path.size() > 2 ? path[path.size() - 2] : std::string(); }
  bool is_bridge() const { return class_code >> 8 == 0x0604; }
};

// `device`: the function's folder, or a link to it or to what the function carries. Nothing where
// no PCI function lies above it, as with software devices.
std::optional<PciFunction> read_pci_function(const Files& files, const std::string& device);
// For who reads many: `speeds` is of the same files.
class PortSpeeds;
std::optional<PciFunction> read_pci_function(const Files& files, const std::string& device,
                                             PortSpeeds& speeds);

}  // namespace gdr::host
