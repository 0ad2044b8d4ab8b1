#include "fix/changes/max_read_request.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>

#include "fix/changes/kinds.h"
#include "fix/changes/register_change.h"

namespace gdr::fix {
namespace {

constexpr std::uint8_t kExpressCapability = 0x10;
constexpr unsigned kDeviceControl = 8;
constexpr unsigned kShift = 12;
constexpr std::uint16_t kField = 0x7000;
constexpr unsigned kEndpoint = 0, kLegacyEndpoint = 1;
constexpr std::array<const char*, 6> kSizes = {"128", "256", "512", "1024", "2048", "4096"};

std::optional<unsigned> code_of(const Value& bytes) {
  for (unsigned code = 0; code < kSizes.size(); ++code) {
    if (bytes == kSizes[code]) return code;
  }
  return std::nullopt;
}

Result<unsigned> verified_offset(const PciRegisters& registers, const std::string& address) {
  const Result<unsigned> express = registers.capability(kExpressCapability);
  if (!express) return express.error();
  const Result<std::uint16_t> flags = registers.read(*express + 2);
  if (!flags) return flags.error();
  const unsigned type = *flags >> 4 & 0xf;
  if (type == kEndpoint || type == kLegacyEndpoint) return *express;
  return Error{ENOTSUP, address + " is not a PCI Express endpoint"};
}

Result<Value> read_size(const PciRegisters& registers, unsigned express,
                        const std::string& address) {
  const Result<std::uint16_t> control = registers.read(express + kDeviceControl);
  if (!control) return control.error();
  const unsigned code = static_cast<unsigned>(*control & kField) >> kShift;
  if (code >= kSizes.size()) {
    return Error{EINVAL, fmt::format("{} has the reserved read request size {}", address, code)};
  }
  return Value(kSizes[code]);
}

class ReadRequest : public RegisterChange {
 public:
  ReadRequest(Record record, unsigned old_code, unsigned new_code)
      : RegisterChange(std::move(record), "PCI Express", verified_offset),
        old_code_(old_code),
        new_code_(new_code) {}

  std::string where() const override {
    return fmt::format("Max_Read_Request_Size of PCI function {} ({})", record().target,
                       record().identity);
  }
  std::string told(const Value& value) const override {
    return value ? *value + " bytes" : "unknown";
  }
  text::Command undo_command() const override {
    return text::Command("setpci -s {} CAP_EXP+8.w={}:7000", record().target,
                         fmt::format("{:04x}", old_code_ << kShift));
  }

  Result<Value> read(const Machine& machine) const override {
    const Result<PciRegisters> registers = open(machine, O_RDONLY);
    if (!registers) return registers.error();
    return read_size(*registers, record().offset, record().target);
  }

  Result<void> write(const Machine& machine, const Value& value) const override {
    const Result<PciRegisters> registers = open(machine, O_RDWR);
    if (!registers) return registers.error();
    const unsigned at = record().offset + kDeviceControl;
    const Result<std::uint16_t> control = registers->read(at);
    if (!control) return control.error();
    const unsigned code = value == record().old_value ? old_code_ : new_code_;
    return registers->write(at, static_cast<std::uint16_t>((*control & ~kField) | code << kShift));
  }

 private:
  unsigned old_code_, new_code_;
};

}  // namespace

Result<ReadRequestState> read_max_read_request(const Machine& machine, const std::string& address) {
  Result<PciIdentity> who = identify(machine, address);
  if (!who) return who.error();
  const Result<PciRegisters> registers = PciRegisters::open(machine, *who, O_RDONLY);
  if (!registers) return registers.error();
  const Result<unsigned> offset = verified_offset(*registers, address);
  if (!offset) return offset.error();
  const Result<Value> size = read_size(*registers, *offset, address);
  if (!size) return size.error();
  return ReadRequestState{*std::move(who), *offset, 128u << *code_of(*size)};
}

Record with_best_read_request(const ReadRequestState& state) {
  Record record = register_record(kMaxReadRequest, state.who, state.offset);
  record.old_value = std::to_string(state.bytes);
  record.new_value = std::to_string(kBestReadRequest);
  return record;
}

Result<ChangePtr> max_read_request_of(const Record& record) {
  const auto old_code = code_of(record.old_value);
  const auto new_code = code_of(record.new_value);
  if (!old_code || !new_code) return no_such_record(record, "sizes of a read request");
  return ChangePtr(new ReadRequest(record, *old_code, *new_code));
}

}  // namespace gdr::fix
