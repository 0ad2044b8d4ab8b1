// PciNames: what the numbers of PCI vendors and devices stand for, from the distribution's pci.ids
// through libpci. Without that file or that library there are no names, and nothing else changes.
//
//   PciNames names;
//   std::string name = names.device(0x10de, 0x2330);  // "GH100 [H100 SXM5 80GB]"
//
// Not for several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace gdr::host {

class PciNames {
 public:
  PciNames();
  // Reads this file instead of the distribution's.
  explicit PciNames(const std::string& path);
  ~PciNames();
  PciNames(const PciNames&) = delete;
  PciNames& operator=(const PciNames&) = delete;

  // Empty: not known.
  std::string vendor(std::uint16_t vendor);
  std::string device(std::uint16_t vendor, std::uint16_t device);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace gdr::host
