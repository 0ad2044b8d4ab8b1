#include "fix/pci_registers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "host/pci/function.h"

namespace gdr::fix {
namespace {

std::string path_of(const Machine& machine, const std::string& address) {
  std::string path;
  for (const std::string& name : machine.files.real_path("sys/bus/pci/devices/" + address)) {
    path += (path.empty() ? "" : "/") + name;
  }
  return path;
}

Result<UniqueFd> open_config(const Machine& machine, const std::string& path, int flags) {
  UniqueFd file = machine.files.folder().open(path + "/config", flags | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return from_errno("/" + path + "/config");
  struct stat found {};
  if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return Error{ENODEV, "/" + path + "/config is not a regular file"};
  }
  return file;
}

Result<std::uint16_t> read_register(int file, unsigned offset, const std::string& name) {
  std::array<unsigned char, 2> bytes{};
  const ssize_t got = pread(file, bytes.data(), bytes.size(), offset);
  if (got < 0) return from_errno(fmt::format("configuration space of {} at {:#x}", name, offset));
  if (got != 2) {
    return Error{
        EACCES,
        fmt::format("the configuration space of {} ends before {:#x}; only root can read all of it",
                    name, offset)};
  }
  return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
}

Result<std::string> read_numbers(int file, const std::string& name) {
  const Result<std::uint16_t> vendor = read_register(file, 0, name);
  if (!vendor) return vendor.error();
  const Result<std::uint16_t> device = read_register(file, 2, name);
  if (!device) return device.error();
  // A read returns this if no device answers.
  if (*vendor == 0xffff) return Error{ENODEV, name + " does not answer"};
  return fmt::format("{:04x}:{:04x}", *vendor, *device);
}

}  // namespace

Result<PciIdentity> identify(const Machine& machine, const std::string& address) {
  if (!host::is_pci_address(address)) {
    return Error{EINVAL, fmt::format("'{}' is not a PCI address such as 0000:18:00.0", address)};
  }
  PciIdentity who{address, {}, path_of(machine, address)};
  if (who.path.empty()) return Error{ENODEV, "there is no PCI function " + address};
  const Result<UniqueFd> file = open_config(machine, who.path, O_RDONLY);
  if (!file) return file.error();
  Result<std::string> numbers = read_numbers(file->get(), address);
  if (!numbers) return numbers.error();
  who.numbers = *std::move(numbers);
  return who;
}

Result<PciRegisters> PciRegisters::open(const Machine& machine, const PciIdentity& who, int flags) {
  const std::string path = path_of(machine, who.address);
  if (path.empty()) return Error{ENODEV, "there is no PCI function " + who.address + " any more"};
  if (path != who.path) {
    return Error{ENODEV,
                 fmt::format("{} is at /{} now, but was at /{}", who.address, path, who.path)};
  }
  Result<UniqueFd> file = open_config(machine, path, flags);
  if (!file) return file.error();
  const Result<std::string> numbers = read_numbers(file->get(), who.address);
  if (!numbers) return numbers.error();
  if (*numbers != who.numbers) {
    return Error{ENODEV,
                 fmt::format("{} is {} now, but was {}", who.address, *numbers, who.numbers)};
  }
  return PciRegisters(machine, *std::move(file), who.address);
}

Result<std::uint16_t> PciRegisters::read(unsigned offset) const {
  return read_register(file_.get(), offset, name_);
}

Result<void> PciRegisters::write(unsigned offset, std::uint16_t value) const {
  const std::array<unsigned char, 2> bytes = {static_cast<unsigned char>(value & 0xff),
                                              static_cast<unsigned char>(value >> 8)};
  const ssize_t put = machine_.put(file_.get(), bytes.data(), bytes.size(), offset);
  if (put == 2) return {};
  if (put >= 0) errno = EIO;
  return from_errno(fmt::format("writing {:#06x} to the configuration space of {} at {:#x}", value,
                                name_, offset));
}

Result<unsigned> PciRegisters::found(std::optional<std::uint16_t> offset, unsigned id) const {
  if (!offset) {
    return Error{EACCES, fmt::format("cannot read all capabilities of {} (only root can)", name_)};
  }
  if (*offset == 0) return Error{ENOENT, fmt::format("{} has no capability {:#x}", name_, id)};
  return unsigned{*offset};
}

Result<unsigned> PciRegisters::capability(std::uint8_t id) const {
  return found(space().capability(id), id);
}

Result<unsigned> PciRegisters::extended_capability(std::uint16_t id) const {
  return found(space().extended_capability(id), id);
}

host::ConfigSpace PciRegisters::space() const {
  return host::ConfigSpace([this](std::size_t offset, std::size_t count) {
    std::string bytes(count, '\0');
    const ssize_t got = pread(file_.get(), bytes.data(), count, static_cast<off_t>(offset));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  });
}

}  // namespace gdr::fix
