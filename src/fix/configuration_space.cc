#include "fix/configuration_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "host/pci/function.h"

namespace gdr::fix {
namespace {

constexpr unsigned kFirstCapability = 0x34;
constexpr unsigned kFirstExtended = 0x100, kEnd = 0x1000;

std::string path_of(const Machine& machine, const std::string& address) {
  std::string path;
  for (const std::string& name : machine.files.real_path("sys/bus/pci/devices/" + address)) {
    path += (path.empty() ? "" : "/") + name;
  }
  return path;
}

Result<UniqueFd> open_config(const Machine& machine, const std::string& path, int flags) {
  const std::string name = machine.absolute(path) + "/config";
  UniqueFd file(::open(name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return from_errno("/" + path + "/config");
  struct stat found {};
  if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return Error{ENODEV, "/" + path + "/config is no regular file"};
  }
  return file;
}

Result<std::uint16_t> read_register(int file, unsigned offset, const std::string& name) {
  std::array<unsigned char, 2> bytes{};
  const ssize_t got = pread(file, bytes.data(), bytes.size(), offset);
  if (got < 0) return from_errno(fmt::format("configuration space of {} at {:#x}", name, offset));
  if (got != 2) {
    return Error{EACCES, fmt::format("the configuration space of {} ends before {:#x}: only root "
                                     "sees all of it",
                                     name, offset)};
  }
  return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
}

Result<std::string> read_numbers(int file, const std::string& name) {
  const Result<std::uint16_t> vendor = read_register(file, 0, name);
  if (!vendor) return vendor.error();
  const Result<std::uint16_t> device = read_register(file, 2, name);
  if (!device) return device.error();
  // What a read gives where no device answers.
  if (*vendor == 0xffff) return Error{ENODEV, name + " does not answer"};
  return fmt::format("{:04x}:{:04x}", *vendor, *device);
}

}  // namespace

Result<PciIdentity> identify(const Machine& machine, const std::string& address) {
  if (!host::is_pci_address(address)) {
    return Error{EINVAL, fmt::format("'{}' is no PCI address as in 0000:18:00.0", address)};
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

Result<ConfigurationSpace> ConfigurationSpace::open(const Machine& machine, const PciIdentity& who,
                                                    int flags) {
  const std::string path = path_of(machine, who.address);
  if (path.empty()) return Error{ENODEV, "there is no PCI function " + who.address + " any more"};
  if (path != who.path) {
    return Error{ENODEV,
                 fmt::format("{} is at /{} now, and was at /{}", who.address, path, who.path)};
  }
  Result<UniqueFd> file = open_config(machine, path, flags);
  if (!file) return file.error();
  const Result<std::string> numbers = read_numbers(file->get(), who.address);
  if (!numbers) return numbers.error();
  if (*numbers != who.numbers) {
    return Error{ENODEV,
                 fmt::format("{} is {} now, and was {}", who.address, *numbers, who.numbers)};
  }
  return ConfigurationSpace(machine, *std::move(file), who.address);
}

Result<std::uint16_t> ConfigurationSpace::read(unsigned offset) const {
  return read_register(file_.get(), offset, name_);
}

Result<void> ConfigurationSpace::write(unsigned offset, std::uint16_t value) const {
  const std::array<unsigned char, 2> bytes = {static_cast<unsigned char>(value & 0xff),
                                              static_cast<unsigned char>(value >> 8)};
  const ssize_t put = machine_.put(file_.get(), bytes.data(), bytes.size(), offset);
  if (put == 2) return {};
  if (put >= 0) errno = EIO;
  return from_errno(fmt::format("writing {:#06x} to the configuration space of {} at {:#x}", value,
                                name_, offset));
}

Result<unsigned> ConfigurationSpace::capability(std::uint8_t id) const {
  const Result<std::uint16_t> first = read(kFirstCapability);
  if (!first) return first.error();
  unsigned at = *first & 0xfcu;
  // Each takes four bytes at least, so that a list that runs in circles ends.
  for (int i = 0; i < 48 && at >= 0x40; ++i) {
    const Result<std::uint16_t> header = read(at);
    if (!header) return header.error();
    if ((*header & 0xff) == id) return at;
    at = *header >> 8 & 0xfcu;
  }
  return Error{ENOENT, fmt::format("{} has no capability {:#04x}", name_, id)};
}

Result<unsigned> ConfigurationSpace::extended_capability(std::uint16_t id) const {
  unsigned at = kFirstExtended;
  for (int i = 0; i < 480 && at >= kFirstExtended && at <= kEnd - 8; ++i) {
    const Result<std::uint16_t> found = read(at);
    if (!found) return found.error();
    const Result<std::uint16_t> next = read(at + 2);
    if (!next) return next.error();
    // An empty list is a header of zeros; no answer is one of ones.
    if (*found == 0xffff || (*found == 0 && *next == 0)) break;
    if (*found == id) return at;
    at = *next >> 4 & 0xffcu;
  }
  return Error{ENOENT, fmt::format("{} has no extended capability {:#06x}", name_, id)};
}

}  // namespace gdr::fix
