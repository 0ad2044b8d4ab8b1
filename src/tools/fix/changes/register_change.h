// Shared by changes of single PCI registers: opens the function only if it is the recorded one and
// still has the capability at the recorded place.
#pragma once

#include <string>
#include <utility>

#include "fix/change.h"
#include "fix/pci_registers.h"

namespace gdr::fix {

class RegisterChange : public Change {
 protected:
  // `offset_in`: where the function has the capability, checked to be one whose register may be
  // changed. `capability`: "ACS".
  using OffsetIn = Result<unsigned> (*)(const PciRegisters& registers, const std::string& address);
  RegisterChange(Record record, const char* capability, OffsetIn offset_in)
      : Change(std::move(record)), capability_(capability), offset_in_(offset_in) {}

  // ENODEV: the function is another one by now, or the capability is elsewhere.
  Result<PciRegisters> open(const Machine& machine, int flags) const;

 private:
  const char* capability_;
  OffsetIn offset_in_;
};

// The record without its values.
Record register_record(const char* kind, const PciIdentity& who, unsigned offset);

}  // namespace gdr::fix
