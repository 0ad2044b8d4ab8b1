#include "fix/changes/register_change.h"

#include <fmt/format.h>

namespace gdr::fix {

Result<PciRegisters> RegisterChange::open(const Machine& machine, int flags) const {
  const PciIdentity who{record().target, record().identity, record().path};
  Result<PciRegisters> registers = PciRegisters::open(machine, who, flags);
  if (!registers) return registers;
  const Result<unsigned> offset = offset_in_(*registers, who.address);
  if (!offset) return offset.error();
  if (*offset != record().offset) {
    return Error{ENODEV, fmt::format("the {} capability of {} is at {:#x} now, but was at {:#x}",
                                     capability_, who.address, *offset, record().offset)};
  }
  return registers;
}

Record register_record(const char* kind, const PciIdentity& who, unsigned offset) {
  Record record;
  record.kind = kind;
  record.target = who.address;
  record.identity = who.numbers;
  record.path = who.path;
  record.offset = offset;
  return record;
}

}  // namespace gdr::fix
