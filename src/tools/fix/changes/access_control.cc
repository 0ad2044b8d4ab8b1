#include "fix/changes/access_control.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <charconv>

#include "fix/changes/kinds.h"
#include "fix/changes/register_change.h"
#include "host/access_control.h"

namespace gdr::fix {
namespace {

using host::AccessControl;

constexpr std::uint16_t kAcsCapability = 0x000d;
constexpr std::uint8_t kExpressCapability = 0x10;
constexpr unsigned kControl = 6;  // of the ACS capability
// Device/Port Type in the PCI Express Capabilities register (7.5.3.2).
constexpr unsigned kRootPort = 4, kDownstreamPort = 6;

// 4 or 6: what may have its redirects cleared. An endpoint may have the capability too.
Result<unsigned> port_type(const PciRegisters& registers, const std::string& address) {
  const Result<unsigned> express = registers.capability(kExpressCapability);
  if (!express && express.error().code != ENOENT) return express.error();
  const Result<std::uint16_t> flags =
      express ? registers.read(*express + 2) : Result<std::uint16_t>(std::uint16_t{0});
  if (!flags) return flags.error();
  const unsigned type = *flags >> 4 & 0xf;
  if (type == kRootPort || type == kDownstreamPort) return type;
  return Error{ENOTSUP, address + " is neither a root port nor a downstream port of a switch"};
}

Result<unsigned> verified_offset(const PciRegisters& registers, const std::string& address) {
  const Result<unsigned> type = port_type(registers, address);
  if (!type) return type.error();
  Result<unsigned> found = registers.extended_capability(kAcsCapability);
  if (!found && found.error().code == ENOENT) {
    return Error{ENOTSUP, address + " has no Access Control Services capability"};
  }
  return found;
}

class ClearRedirects : public RegisterChange {
 public:
  ClearRedirects(Record record, std::uint16_t old_control, std::uint16_t new_control)
      : RegisterChange(std::move(record), "ACS", verified_offset),
        old_control_(old_control),
        new_control_(new_control) {}

  std::string where() const override {
    return fmt::format("ACS control register of port {} ({})", record().target, record().identity);
  }
  std::string told(const Value& value) const override {
    const auto control = read_register_text(value);
    if (!control) return value.value_or("unknown");
    const std::string bits = host::names_of_access_control(*control);
    return *value + " (" + (bits.empty() ? "nothing set" : bits) + ")";
  }
  text::Command undo_command() const override {
    return text::Command("setpci -s {} ECAP_ACS+6.w={}", record().target,
                         fmt::format("{:04x}", old_control_));
  }

  Result<Value> read(const Machine& machine) const override {
    const Result<PciRegisters> registers = open(machine, O_RDONLY);
    if (!registers) return registers.error();
    const Result<std::uint16_t> control = registers->read(record().offset + kControl);
    if (!control) return control.error();
    return Value(register_text(*control));
  }

  Result<void> write(const Machine& machine, const Value& value) const override {
    const Result<PciRegisters> registers = open(machine, O_RDWR);
    if (!registers) return registers.error();
    const std::uint16_t control = value == record().old_value ? old_control_ : new_control_;
    return registers->write(record().offset + kControl, control);
  }

 private:
  std::uint16_t old_control_, new_control_;
};

}  // namespace

std::string register_text(std::uint16_t value) { return fmt::format("{:#06x}", value); }

std::optional<std::uint16_t> read_register_text(const Value& text) {
  std::uint16_t value = 0;
  if (!text || text->size() != 6 || text->compare(0, 2, "0x") != 0) return std::nullopt;
  const char* last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data() + 2, last, value, 16);
  if (error != std::errc() || end != last || register_text(value) != *text) return std::nullopt;
  return value;
}

Result<AccessControlPort> read_access_control_port(const Machine& machine,
                                                   const std::string& address) {
  Result<PciIdentity> who = identify(machine, address);
  if (!who) return who.error();
  const Result<PciRegisters> registers = PciRegisters::open(machine, *who, O_RDONLY);
  if (!registers) return registers.error();
  const Result<unsigned> offset = verified_offset(*registers, address);
  if (!offset) return offset.error();
  const Result<std::uint16_t> control = registers->read(*offset + kControl);
  if (!control) return control.error();
  const Result<unsigned> type = port_type(*registers, address);
  return AccessControlPort{*std::move(who), type && *type == kRootPort, *offset, *control};
}

Record without_redirects(const AccessControlPort& port) {
  Record record = register_record(kAccessControl, port.who, port.offset);
  record.old_value = register_text(port.control);
  record.new_value =
      register_text(static_cast<std::uint16_t>(port.control & ~AccessControl::kRedirects));
  return record;
}

Result<ChangePtr> access_control_of(const Record& record) {
  const auto old_control = read_register_text(record.old_value);
  const auto new_control = read_register_text(record.new_value);
  if (!old_control || !new_control) return no_such_record(record, "values of a register");
  if (*new_control != (*old_control & ~AccessControl::kRedirects)) {
    return no_such_record(record, "more than the redirects is changed");
  }
  return ChangePtr(new ClearRedirects(record, *old_control, *new_control));
}

}  // namespace gdr::fix
