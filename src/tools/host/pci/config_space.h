// ConfigSpace: a view of the bytes of a function's configuration space, as many of them as can be
// seen: 64 without root, 256 of conventional PCI, 4096 of PCI Express.
//
// Clauses are those of the PCI Express Base Specification 6.0.
//
//   const ConfigSpace space(bytes);
//   const std::optional<std::uint16_t> acs = space.extended_capability(0x000d);
//   if (!acs) puts("cannot be known"); else if (*acs == 0) puts("has none");
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/pci/function.h"

namespace gdr::host {

class ConfigSpace {
 public:
  // At most `count` bytes from `offset` on; fewer where there are no more.
  using Read = std::function<std::string(std::size_t offset, std::size_t count)>;

  explicit ConfigSpace(std::string bytes);
  // Reads the first 256 bytes at once and of the rest what is asked for, since each four bytes are
  // a transaction on the bus.
  explicit ConfigSpace(Read read);

  // Nothing beyond what can be seen.
  std::optional<std::uint8_t> byte(std::size_t at) const;
  std::optional<std::uint16_t> word(std::size_t at) const;
  std::optional<std::uint32_t> dword(std::size_t at) const;

  // Where a capability is; 0: the function has none; nothing: cannot be known, because the list is
  // cut off or runs in circles.
  std::optional<std::uint16_t> capability(std::uint8_t id) const;            // 7.5.1.1.11
  std::optional<std::uint16_t> extended_capability(std::uint16_t id) const;  // 7.6.3

 private:
  std::string first_;
  Read read_;
};

// Sets what the configuration space says: kind, settings, ACS, ATS, resizable BARs, and whether all
// of it could be seen.
void fill_from_config(PciFunction& function, const ConfigSpace& space);

}  // namespace gdr::host
