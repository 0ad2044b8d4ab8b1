// PciRegisters: single registers of one PCI function, through its `config` file in sysfs. It
// opens the function that was meant, known by what it is and by where it sits, or none: bus numbers
// are given anew at each boot and hot-plug.
//
//   Result<PciIdentity> port = identify(files, "0000:18:00.0");
//   Result<PciRegisters> space = PciRegisters::open(machine, *port, O_RDONLY);
//   Result<unsigned> acs = space->extended_capability(0x000d);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "fix/machine.h"
#include "host/pci/config_space.h"

namespace gdr::fix {

struct PciIdentity {
  std::string address;  // "0000:18:00.0"
  std::string numbers;  // vendor and device: "10b5:8749"
  std::string path;     // "sys/devices/pci0000:00/0000:00:01.0/0000:18:00.0"
};

Result<PciIdentity> identify(const Machine& machine, const std::string& address);

class PciRegisters {
 public:
  // ENODEV: at this address sits something else, or nothing.
  static Result<PciRegisters> open(const Machine& machine, const PciIdentity& who, int flags);

  // `offset` is even. A single access of 16 bits: neighbours have bits that writing clears.
  Result<std::uint16_t> read(unsigned offset) const;
  Result<void> write(unsigned offset, std::uint16_t value) const;

  // Offsets of capabilities. ENOENT: it has none; EACCES: only root sees so far.
  Result<unsigned> capability(std::uint8_t id) const;
  Result<unsigned> extended_capability(std::uint16_t id) const;

 private:
  PciRegisters(const Machine& machine, UniqueFd file, std::string name)
      : machine_(machine), file_(std::move(file)), name_(std::move(name)) {}

  host::ConfigSpace space() const;
  Result<unsigned> found(std::optional<std::uint16_t> offset, unsigned id) const;

  const Machine& machine_;
  UniqueFd file_;
  std::string name_;
};

}  // namespace gdr::fix
