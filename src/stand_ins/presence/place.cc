#include "presence/place.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "presence/folders.h"

namespace gdr::presence {
namespace {

constexpr const char* kFunctions = "/sys/bus/pci/devices";

// Offsets in the part of configuration space that everybody may read.
constexpr std::size_t kHeaderType = 0x0e, kSecondaryBus = 0x19;
constexpr unsigned kBridgeHeader = 1;

std::string line_of(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string bus_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

class Machine {
 public:
  // Without the software NICs of a `gdr run` that this one is in: they are replaced.
  explicit Machine(const std::string& root)
      : root_(root), functions_(entries_of(root + kFunctions)) {
    std::erase_if(functions_, [&](const std::string& address) {
      return line_of(root_ + kFunctions + "/" + address + "/label") == kFunctionLabel;
    });
  }

  bool has(const std::string& address) const {
    return std::find(functions_.begin(), functions_.end(), address) != functions_.end();
  }

  // "/sys/devices/pci0000:16/0000:16:01.0"; empty where the entry is no link into the tree.
  std::string folder_of(const std::string& address) const {
    char target[PATH_MAX];
    const std::string link = root_ + kFunctions + "/" + address;
    const ssize_t length = readlink(link.c_str(), target, sizeof target);
    if (length <= 0 || length == sizeof target) return "";
    const std::string path(target, static_cast<std::size_t>(length));
    const std::size_t devices = path.find("devices/pci");
    return devices == std::string::npos ? "" : "/sys/" + path.substr(devices);
  }

  std::optional<std::string> function_on(const std::string& bus) const {
    const auto found =
        std::find_if(functions_.begin(), functions_.end(), [&](const std::string& address) {
          return bus_of(address) == bus && !folder_of(address).empty();
        });
    return found == functions_.end() ? std::nullopt : std::optional(*found);
  }

  // The bridge whose other side is that bus.
  std::optional<std::string> bridge_to(const std::string& bus) const {
    const std::size_t colon = bus.rfind(':');
    unsigned number = 0;
    std::from_chars(bus.data() + colon + 1, bus.data() + bus.size(), number, 16);
    const std::string domain = bus.substr(0, colon + 1);
    for (const std::string& address : functions_) {
      if (address.starts_with(domain) && secondary_bus(address) == number &&
          !folder_of(address).empty()) {
        return address;
      }
    }
    return std::nullopt;
  }

  // Every device of the kernel's has that file; what a `gdr run` around this one made up has none.
  bool has_root_bus(const std::string& bus) const {
    return access((root_ + "/sys/devices/pci" + bus + "/uevent").c_str(), F_OK) == 0;
  }

  // A device number that no function of the bus has.
  std::string free_on(const std::string& bus) const {
    for (unsigned device = 0; device < 32; ++device) {
      char prefix[8];
      std::snprintf(prefix, sizeof prefix, ":%02x.", device);
      const std::string wanted = bus + prefix;
      if (std::none_of(functions_.begin(), functions_.end(),
                       [&](const std::string& one) { return one.starts_with(wanted); })) {
        return wanted + "0";
      }
    }
    return "";
  }

  void copy_locality(const std::string& folder, Place& to) const {
    to.numa_node = line_of(root_ + folder + "/numa_node");
    to.local_cpus = line_of(root_ + folder + "/local_cpus");
    to.local_cpulist = line_of(root_ + folder + "/local_cpulist");
  }

  // Where nothing around says more, all processors are as near as any.
  void complete_locality(Place& place) const {
    if (place.numa_node.empty()) place.numa_node = "-1";
    if (!place.local_cpus.empty() && !place.local_cpulist.empty()) return;
    const std::string bus = root_ + place.parent + "/pci_bus/" + place.bus();
    place.local_cpus = line_of(bus + "/cpuaffinity");
    place.local_cpulist = line_of(bus + "/cpulistaffinity");
    if (!place.local_cpus.empty() && !place.local_cpulist.empty()) return;
    place.local_cpulist = line_of(root_ + "/sys/devices/system/cpu/online");
    place.local_cpus = mask_of(place.local_cpulist);
  }

 private:
  // The bus behind a bridge; 0, which is none, for anything else.
  unsigned secondary_bus(const std::string& address) const {
    std::ifstream stream(root_ + kFunctions + "/" + address + "/config", std::ios::binary);
    char bytes[kSecondaryBus + 1];
    if (!stream.read(bytes, sizeof bytes)) return 0;
    const auto at = [&bytes](std::size_t offset) {
      return static_cast<unsigned char>(bytes[offset]);
    };
    return (at(kHeaderType) & 0x7fU) == kBridgeHeader ? at(kSecondaryBus) : 0;
  }

  // "0-1,33" as the kernel writes masks: "00000002,00000003". Empty where it is no such list.
  static std::string mask_of(const std::string& list) {
    constexpr unsigned kMost = 8192;
    std::vector<std::uint32_t> words(1);
    const char* at = list.data();
    const char* const end = at + list.size();
    while (at != end) {
      unsigned first = 0;
      auto parsed = std::from_chars(at, end, first);
      unsigned last = first;
      if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '-') {
        parsed = std::from_chars(parsed.ptr + 1, end, last);
      }
      if (parsed.ec != std::errc() || last >= kMost) return "";
      if (words.size() <= last / 32) words.resize(last / 32 + 1);
      for (unsigned one = first; one <= last; ++one) words[one / 32] |= 1U << one % 32;
      at = parsed.ptr;
      if (at != end && *at++ != ',') return "";
    }
    std::string text;
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
      char digits[16];
      std::snprintf(digits, sizeof digits, word == words.rbegin() ? "%x" : ",%08x", *word);
      text += digits;
    }
    return text;
  }

  const std::string root_;
  std::vector<std::string> functions_;  // addresses
};

}  // namespace

Result<Place> find_place(const std::string& root, const std::string& address) {
  const Machine machine(root);
  Place place;
  place.address = address;
  const std::string bus = place.bus();
  if (machine.has(address)) {
    const std::string free = machine.free_on(bus);
    return Error{EADDRNOTAVAIL, "pci=" + address + " is a device of this host" +
                                    (free.empty() ? "" : "; " + free + " is free on its bus")};
  }
  if (const auto neighbour = machine.function_on(bus)) {
    const std::string folder = machine.folder_of(*neighbour);
    place.parent = folder.substr(0, folder.rfind('/'));
    machine.copy_locality(folder, place);
  } else if (const auto bridge = machine.bridge_to(bus)) {
    place.parent = machine.folder_of(*bridge);
    machine.copy_locality(place.parent, place);
  } else {
    place.parent = "/sys/devices/pci" + bus;
    place.parent_is_made_up = !machine.has_root_bus(bus);
  }
  machine.complete_locality(place);
  return place;
}

}  // namespace gdr::presence
